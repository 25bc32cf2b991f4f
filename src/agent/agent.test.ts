import { describe, expect, it } from 'vitest'
import { PNG } from '../assets/fixtures/stores.ts'
import { defineTool } from '../boundary/tool.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import { camera, count, eventsOf, prompts, say, typesOf } from './fixtures/agent.ts'
import { readState } from './read-conversation.ts'

describe('createAgent', () => {
  it('answers, and ends with exactly one terminal event', async () => {
    const agent = createAgent({ model: scriptedModel(['Hello!']) })
    const run = agent.run({ messages: say('Hi') })
    const events = await eventsOf(run)
    expect(typesOf(events)).toEqual([
      'NEW_MESSAGE',
      'RUN_STARTED',
      'STEP_STARTED',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'NEW_MESSAGE',
      'STEP_FINISHED',
      'RUN_FINISHED',
    ])
    expect(await run.result).toMatchObject({ text: 'Hello!', reason: 'done' })
    expect(run.messages.map(({ content }) => content)).toEqual(['Hi', 'Hello!'])
  })

  it('continues a conversation where it ended', async () => {
    const log = createMemoryLog()
    const first = scriptedModel(['My name is demo.'])
    await createAgent({ model: first, log }).run({ conversation: 'c', messages: say('Who?') })
      .result
    const second = scriptedModel(['As I said.'])
    await createAgent({ model: second, log }).run({ conversation: 'c', messages: say('Again?') })
      .result
    expect(prompts(second)[0]).toMatch(/Who\?.*My name is demo\..*Again\?/)
  })

  it('makes a call wait for the call of the same answer that writes what it reads', async () => {
    const order: string[] = []
    const thirdRan = Promise.withResolvers<void>()
    const slow = defineTool({
      id: 'slow',
      description: '',
      inputSchema: { type: 'object', properties: { value: {} } },
      async execute({ value, name }) {
        if (name === 'third') thirdRan.resolve()
        if (name === 'first') await thirdRan.promise
        order.push(String(name))
        return value ?? 1
      },
    })
    const model = scriptedModel([
      {
        calls: [
          { name: 'slow', arguments: { name: 'first', value: 7, _outputPath: '†state.a' } },
          { name: 'slow', arguments: { name: 'second', value: '†state.a' } },
          { name: 'slow', arguments: { name: 'third' } },
        ],
      },
      'Done.',
    ])
    const run = createAgent({ model, tools: [slow] }).run({ messages: say('go') })
    await run.result
    expect(order).toEqual(['third', 'first', 'second'])
    const results = run.messages.filter(({ metadata }) => metadata.tool_result)
    expect(results.map(({ content }) => content)).toEqual([
      { written_to: ['†state.a'], value: 7 },
      7,
      1,
    ])
  })

  it('records when each call ended, even if it is logged after a slower one', async () => {
    const fastEnded = Promise.withResolvers<void>()
    const slow = defineTool({
      id: 'slow',
      description: '',
      inputSchema: { type: 'object' },
      async execute() {
        await fastEnded.promise
        await new Promise((resolve) => setTimeout(resolve, 30))
        return 'slow'
      },
    })
    const fast = defineTool({
      id: 'fast',
      description: '',
      inputSchema: { type: 'object' },
      execute() {
        fastEnded.resolve()
        return 'fast'
      },
    })
    const calls = ['slow', 'fast'].map((name) => ({ id: name, name, arguments: {} }))
    const log = createMemoryLog()
    const model = scriptedModel([{ calls }, 'Done.'])
    await createAgent({ model, tools: [slow, fast], log }).run({
      conversation: 'c',
      messages: say('go'),
    }).result
    const { calls: ended } = await readState(log, 'c')
    expect(Date.parse(ended.slow?.finishedAt ?? '')).toBeGreaterThan(
      Date.parse(ended.fast?.finishedAt ?? ''),
    )
  })

  it('tells the model why a call failed, and continues', async () => {
    const broken = defineTool({
      id: 'broken',
      description: '',
      inputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
      execute() {
        throw new Error('the pump is stuck')
      },
    })
    const missing = 'asset://nowhere/content/rows'
    const model = scriptedModel([
      {
        calls: [
          { name: 'broken', arguments: { n: 1 } },
          { name: 'broken', arguments: { n: 'one' } },
          { name: 'broken', arguments: { n: '†state.none' } },
          { name: 'nothing', arguments: {} },
          { name: 'count', arguments: { rows: missing } },
        ],
      },
      'I see.',
    ])
    const run = createAgent({ model, tools: [broken, count] }).run({ messages: say('go') })
    expect(await run.result).toMatchObject({ text: 'I see.' })
    const errors = run.messages.flatMap(({ metadata }) => metadata.tool_result?.error ?? [])
    expect(errors.map(({ code }) => code)).toEqual([
      'tool_failed',
      'invalid_arguments',
      'variable_not_found',
      'tool_not_found',
      'asset_not_found',
    ])
    const seen = prompts(model)[1] ?? ''
    expect(seen).toContain('the pump is stuck')
    expect(seen).toContain('/n must be number')
    expect(seen).toContain('The tools are: broken, count')
    expect(seen).toContain('nowhere')
  })

  it('reports arguments that are nested deeper than the log can hold', async () => {
    const deep = Array.from({ length: 2000 }).reduce((value) => [value], 'bottom')
    const model = scriptedModel([{ calls: [{ name: 'echo', arguments: { deep } }] }, 'I see.'])
    const echo = defineTool({
      id: 'echo',
      description: '',
      inputSchema: { type: 'object' },
      execute: () => null,
    })
    const run = createAgent({ model, tools: [echo] }).run({ messages: say('go') })
    expect(await run.result).toMatchObject({ text: 'I see.' })
    const errors = run.messages.flatMap(({ metadata }) => metadata.tool_result?.error ?? [])
    expect(errors).toMatchObject([{ message: expect.stringContaining('deeper than 200 levels') }])
  })

  it('reads and writes the instance that a call names', async () => {
    const echo = defineTool({
      id: 'echo',
      description: '',
      inputSchema: { type: 'object' },
      execute: ({ value }) => value,
    })
    const of = (instance: string) => {
      const value = '†state.name'
      return { name: 'echo', arguments: { value, _instance: instance, _outputPath: '†state.seen' } }
    }
    const model = scriptedModel([{ calls: [of('a'), of('b')] }, 'Done.'])
    const run = createAgent({ model, tools: [echo] }).run({
      messages: [
        { type: 'state', state: { name: 'everybody' } },
        { type: 'state', state: { name: 'Ada' }, _instance: 'a' },
        { role: 'user', content: 'go' },
      ],
    })
    await run.result
    const results = run.messages.filter(({ metadata }) => metadata.tool_result)
    expect(results.map(({ content }) => content)).toEqual([
      { written_to: ['†state#a.seen'], value: 'Ada' },
      { written_to: ['†state#b.seen'], value: 'everybody' },
    ])
  })

  it('rejects a write that violates the schema, and an invalid path, before the tool runs', async () => {
    let worked = 0
    const measure = defineTool({
      id: 'measure',
      description: '',
      inputSchema: { type: 'object' },
      execute: () => ({ size: `${++worked} m` }),
    })
    const model = scriptedModel([
      {
        calls: [
          { name: 'measure', arguments: { _outputPath: '†state.box' } },
          { name: 'measure', arguments: { _outputPath: 'state.box' } },
          { name: 'measure', arguments: { _outputPath: '†log.last || †errors.last' } },
        ],
      },
      'Refused.',
    ])
    const size = { type: 'number' }
    const box = { type: 'object', properties: { size } }
    const run = createAgent({ model, tools: [measure] }).run({
      messages: [
        { type: 'state', schema: { type: 'object', properties: { box } } },
        { role: 'user', content: 'go' },
      ],
    })
    await run.result
    const results = run.messages.flatMap(({ metadata }) => metadata.tool_result ?? [])
    expect(results.map(({ error }) => error?.code)).toEqual([
      'schema_violation',
      'invalid_reference',
      undefined,
    ])
    expect(worked).toBe(2)
    const data = run.messages.filter(({ content_type }) => content_type === 'data')
    expect(data.map(({ content }) => (content as { kind: string }).kind)).toEqual(['state', 'log'])
  })

  it('names the result of a call in the error if it cannot be written', async () => {
    const pay = { id: 'pay', description: '', inputSchema: { type: 'object' } }
    const rows = Array.from({ length: 500 }, (_, id) => ({ id }))
    const tools = [
      defineTool({ ...pay, execute: () => ({ receipt: 4711 }) }),
      defineTool({ ...pay, id: 'list', execute: () => rows }),
    ]
    const args = { _outputPath: '†state.log.last' }
    const model = scriptedModel([
      { calls: ['pay', 'list'].map((name) => ({ name, arguments: args })) },
      'I know the receipt.',
    ])
    const agent = createAgent({ model, tools })
    const run = agent.run({ messages: [{ type: 'state', state: { log: 'none yet' } }, 'go'] })
    const { assets } = await run.result
    const results = run.messages.flatMap(({ metadata }) => metadata.tool_result?.error ?? [])
    const why = '†state.log is string: cannot write at "last".'
    const ran = 'The tool has run, and only this write failed. Its result: '
    expect(results).toEqual([
      { code: 'invalid_data', message: `${why} ${ran}{"receipt":4711}` },
      { code: 'invalid_data', message: `${why} ${ran}${assets[0]?.ref}` },
    ])
    expect(await agent.assets.resolve(`${assets[0]?.ref}/content`)).toEqual(rows)
  })

  it('keeps the error of a call if it cannot be written either', async () => {
    const boom = defineTool({
      id: 'boom',
      description: '',
      inputSchema: { type: 'object' },
      execute() {
        throw new Error('The pump is stuck.')
      },
    })
    const args = { _outputPath: '†state.a || †state.log.last' }
    const model = scriptedModel([{ calls: [{ name: 'boom', arguments: args }] }, 'Done.'])
    const run = createAgent({ model, tools: [boom] }).run({
      messages: [{ type: 'state', state: { log: 'none yet' } }, 'go'],
    })
    expect(await run.result).toMatchObject({ text: 'Done.' })
    const results = run.messages.flatMap(({ metadata }) => metadata.tool_result?.error ?? [])
    const why = 'This error was not written: †state.log is string: cannot write at "last".'
    expect(results).toMatchObject([{ message: `The pump is stuck. (${why})` }])
  })

  it('shows an unknown reference as unresolved, in attachments and in parts', async () => {
    const model = scriptedModel(['I see nothing.', 'Nor there.'])
    const agent = createAgent({ model })
    const assetRef = 'asset://nowhere'
    await agent.run({ messages: [{ content: 'x', attachments: [{ assetRef }] }] }).result
    const part = { type: 'file', file: { url: assetRef } }
    await agent.run({ messages: [{ content: [{ type: 'text', text: 'x' }, part] }] }).result
    for (const prompt of prompts(model))
      expect(prompt).toContain('[unresolved file: asset://nowhere')
  })

  it('rejects invalid input before anything is logged', async () => {
    const log = createMemoryLog()
    const agent = createAgent({ model: scriptedModel([]), log })
    const attachments = [{ assetRef: 'http://x' }]
    const run = agent.run({
      conversation: 'c',
      messages: [{ role: 'user', content: 'x', metadata: { attachments } }],
    })
    await expect(run.result).rejects.toMatchObject({ code: 'invalid_reference' })
    await expect(eventsOf(run)).rejects.toMatchObject({ code: 'invalid_reference' })
    expect(await log.find('c')).toBe(null)
    await expect(agent.start({ messages: [] })).rejects.toMatchObject({ code: 'invalid_message' })
  })

  it('has one run at a time in a conversation', async () => {
    const agent = createAgent({ model: scriptedModel(['one', 'two']) })
    const first = agent.run({ conversation: 'c', messages: say('a') })
    const second = agent.run({ conversation: 'c', messages: say('b'), ifBusy: 'reject' })
    await expect(second.result).rejects.toMatchObject({ code: 'conversation_busy' })
    await first.result
    await agent.run({ conversation: 'c', messages: say('c') }).result
  })

  it('ends a failed run with RUN_ERROR and keeps the conversation usable', async () => {
    const agent = createAgent({ model: scriptedModel([new Error('no route'), 'Back.']) })
    const run = agent.run({ conversation: 'c', messages: say('a') })
    const events = await eventsOf(run)
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'model_failed' })
    await expect(run.result).rejects.toThrow('no route')
    const again = agent.run({ conversation: 'c', messages: say('b') })
    expect((await again.result).text).toBe('Back.')
  })

  it('names the first event on which a handler threw, and not the RUN_ERROR', async () => {
    const onEvent = ({ type }: ConversationEvent): void => {
      if (/^RUN_ERROR|^TEXT_MESSAGE_CONTENT/.test(type)) throw new Error('handler broke')
    }
    const agent = createAgent({ model: scriptedModel(['text']), callbacks: { onEvent } })
    await expect(agent.run({ messages: say('a') }).result).rejects.toThrow(
      'callbacks.onEvent failed on TEXT_MESSAGE_CONTENT: handler broke',
    )
  })

  it('ends once even if a handler throws', async () => {
    const onEvent = (event: ConversationEvent): void => {
      if (event.type === 'TEXT_MESSAGE_CONTENT') throw new Error('handler broke')
    }
    const log = createMemoryLog()
    const agent = createAgent({ model: scriptedModel(['text']), log, callbacks: { onEvent } })
    const run = agent.run({ conversation: 'c', messages: say('a') })
    await expect(run.result).rejects.toThrow(/^callbacks\.onEvent failed on \w+: handler broke$/)
    const ends = (await log.read('c')).filter(({ event }) =>
      /RUN_(FINISHED|ERROR)/.test(event.type),
    )
    expect(ends).toHaveLength(1)
  })

  it.each([
    'NEW_MESSAGE',
    'RUN_STARTED',
    'STEP_STARTED',
    'TEXT_MESSAGE_START',
    'TEXT_MESSAGE_CONTENT',
    'TEXT_MESSAGE_END',
    'TOOL_CALL_START',
    'TOOL_CALL_ARGS',
    'TOOL_CALL_END',
    'TOOL_STARTED',
    'TOOL_PROGRESS',
    'TOOL_CALL_RESULT',
    'STEP_FINISHED',
    'ASSET_CREATED',
    'RUN_FINISHED',
  ])('ends once if a handler of %s throws', async (type) => {
    const busy = defineTool({
      id: 'busy',
      description: '',
      inputSchema: { type: 'object' },
      async execute(_, { progress }) {
        progress('half')
        return new Uint8Array(PNG)
      },
    })
    const model = scriptedModel([
      { text: 'Well', calls: [{ name: 'busy', arguments: {} }] },
      'Done.',
    ])
    const log = createMemoryLog()
    const onEvent = (event: ConversationEvent): void => {
      if (event.type === type) throw new Error(`no ${type}`)
    }
    const agent = createAgent({ model, tools: [busy], log, callbacks: { onEvent } })
    const run = agent.run({ conversation: 'c', messages: say('go') })
    await expect(run.result).rejects.toThrow(`no ${type}`)
    const ends = (await log.read('c')).filter(({ event }) =>
      /RUN_(FINISHED|ERROR)/.test(event.type),
    )
    expect(ends).toHaveLength(1)
    expect((await log.find('c'))?.openRun).toBe(null)
  })

  it('converts a result that JSON cannot represent, or returns an error', async () => {
    const cyclic: Record<string, unknown> = { deep: {} }
    cyclic.deep = { self: cyclic }
    const results: Record<string, unknown> = {
      map: new Map<string, unknown>([['a', new Set([1, 10n])]]),
      pairs: new Map([[1, 2]]),
      date: { at: new Date(0), n: Number.NaN, skip: () => 1, none: undefined },
      failed: { error: Object.assign(new TypeError('No such order'), { status: 404 }) },
      nothing: undefined,
      cyclic,
      broken: {
        toJSON() {
          throw new Error('no JSON')
        },
      },
    }
    const give = defineTool({
      id: 'give',
      description: '',
      inputSchema: { type: 'object' },
      execute: ({ what }) => results[String(what)],
    })
    const calls = Object.keys(results).map((what) => ({ name: 'give', arguments: { what } }))
    const run = createAgent({ model: scriptedModel([{ calls }, 'Done.']), tools: [give] }).run({
      messages: say('go'),
    })
    expect((await run.result).text).toBe('Done.')
    const given = run.messages.filter(({ metadata }) => metadata.tool_result)
    expect(
      given.map(({ content, metadata }) => metadata.tool_result?.error?.code ?? content),
    ).toEqual([
      { a: [1, '10'] },
      [[1, 2]],
      { at: '1970-01-01T00:00:00.000Z', n: 'NaN' },
      { error: { name: 'TypeError', message: 'No such order', status: 404 } },
      null,
      'invalid_data',
      'tool_failed',
    ])
  })

  it('keeps the text that was streamed before a run was stopped', async () => {
    const agent = createAgent({ model: scriptedModel(['a long text '.repeat(50), 'And on.']) })
    const run = agent.run({ conversation: 'c', messages: say('go') })
    let pieces = 0
    for await (const event of run) {
      if (event.type === 'TEXT_MESSAGE_CONTENT' && ++pieces === 3) run.cancel()
    }
    await run.result
    const kept = run.messages.at(-1)
    expect(kept?.metadata.incomplete).toBe(true)
    expect(String(kept?.content)).toMatch(/^a long text a long/)
    expect((await agent.run({ conversation: 'c', messages: say('on') }).result).text).toBe(
      'And on.',
    )
  })

  it('takes a result of more values than a function may have arguments', async () => {
    const list = defineTool({
      id: 'list',
      description: '',
      inputSchema: { type: 'object' },
      maxResultChars: Infinity,
      execute: () => Array.from({ length: 130_000 }, () => 1),
    })
    const model = scriptedModel([{ calls: [{ name: 'list', arguments: {} }] }, 'Done.'])
    const agent = createAgent({ model, tools: [list] })
    expect((await agent.run({ messages: 'go' }).result).text).toBe('Done.')
  })

  it('gives two calls of one answer with the same id ids of their own', async () => {
    const call = { id: 'x', name: 'camera', arguments: {} }
    const model = scriptedModel([{ calls: [call, call] }, 'Done.'])
    const run = createAgent({ model, tools: [camera] }).run({ messages: say('go') })
    await run.result
    const ids = run.messages
      .flatMap(({ metadata }) => metadata.tool_calls ?? [])
      .map(({ id }) => id)
    expect(ids[0]).toBe('x')
    expect(new Set(ids).size).toBe(2)
    const results = run.messages.flatMap(({ metadata }) => metadata.tool_result?.tool_call_id ?? [])
    expect(results).toEqual(ids)
  })

  it('can be cancelled between two deltas and in a tool that ignores its signal', async () => {
    const never = defineTool({
      id: 'never',
      description: '',
      inputSchema: { type: 'object' },
      execute: () => new Promise(() => {}),
    })
    const model = scriptedModel([{ calls: [{ name: 'never', arguments: {} }] }])
    const run = createAgent({ model, tools: [never] }).run({ messages: say('go') })
    for await (const event of run) if (event.type === 'TOOL_CALL_END') setTimeout(run.cancel, 5)
    expect(await run.result).toMatchObject({ reason: 'cancelled' })

    const controller = new AbortController()
    const agent = createAgent({ model: scriptedModel(['a long text '.repeat(100)]) })
    const talking = agent.run({ messages: say('go'), signal: controller.signal })
    for await (const event of talking) if (event.type === 'TEXT_MESSAGE_CONTENT') controller.abort()
    expect(await talking.result).toMatchObject({ reason: 'cancelled' })
  })

  it('stops at the limit of steps', async () => {
    const call = { calls: [{ name: 'camera', arguments: {} }] }
    const agent = createAgent({
      model: scriptedModel([call, call, call]),
      tools: [camera],
      limits: { steps: 2 },
    })
    expect(await agent.run({ messages: say('go') }).result).toMatchObject({ reason: 'step_limit' })
  })

  it('rejects two tools with the same id, and tool names that providers reject', () => {
    expect(() => createAgent({ model: scriptedModel([]), tools: [camera, camera] })).toThrow(
      'Two tools have the id "camera"',
    )
    const { execute } = camera
    const named = {
      id: 'take a picture',
      description: '',
      inputSchema: { type: 'object' },
      execute,
    }
    expect(() => defineTool(named)).toThrow('not allowed')
    const text = { ...named, id: 'text', inputSchema: { type: 'string' } }
    expect(() => defineTool(text)).toThrow('type object')
  })
})
