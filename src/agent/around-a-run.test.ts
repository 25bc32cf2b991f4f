import { describe, expect, it, vi } from 'vitest'
import { PNG } from '../assets/fixtures/stores.ts'
import { defineTool } from '../boundary/tool.ts'
import { emptyConversation } from '../core/events/conversation-state.ts'
import type { ConversationEvent, LogRecord } from '../core/events/events.ts'
import { foldAll } from '../core/events/fold.ts'
import { type ConversationLog, readAll } from '../log/conversation-log.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import { eventsOf, prompts, say } from './fixtures/agent.ts'
import type { ProcessorContext } from './processors.ts'

const object = { type: 'object' } as const

describe('createAgent', () => {
  it('rejects an invalid model and unknown options', () => {
    expect(() => createAgent({ model: 'openai/gpt-5' as never })).toThrow(
      /model must be an AI SDK model .*, not "openai\/gpt-5"/,
    )
    expect(() => createAgent({ model: undefined as never })).toThrow(/needs the option "model"/)
    const model = scriptedModel([])
    expect(() => createAgent({ model, maxSteps: 3 } as never)).toThrow(/"maxSteps".*limits/)
    const run = createAgent({ model }).run({ messages: say('x'), conversationId: 'c' } as never)
    return expect(run.result).rejects.toMatchObject({ code: 'config_invalid' })
  })

  it('keeps namespaces apart, even for conversations with the same id', async () => {
    const log = createMemoryLog()
    const seen: unknown[] = []
    const where = defineTool({
      id: 'where',
      description: '',
      inputSchema: object,
      execute: (_, { namespace }) => void seen.push(namespace),
    })
    const model = scriptedModel([
      'secret of a',
      { calls: [{ name: 'where', arguments: {} }] },
      'I know nothing.',
    ])
    const agent = createAgent({ model, log, tools: [where] })
    await agent.run({ conversation: 'c', namespace: 'tenant-a', messages: say('my secret') }).result
    await agent.run({ conversation: 'c', namespace: 'tenant-b', messages: say('Who?') }).result
    expect(prompts(model).at(-1)).not.toContain('secret')
    expect(seen).toEqual(['tenant-b'])
    expect(await log.find('c')).toBe(null)
    expect(await log.scoped('tenant-a').find('c')).toMatchObject({ messages: 2 })
    expect(await agent.cancel('c')).toBe(false)
  })

  it('passes the context of a run to its tools, also after a restart', async () => {
    const seen: unknown[] = []
    const look = defineTool({
      id: 'look',
      description: '',
      inputSchema: object,
      idempotent: true,
      execute: (_, { context }) => void seen.push(context),
    })
    const callLook = { calls: [{ name: 'look', arguments: {} }] }
    const log = createMemoryLog()
    const live = { db: new Map() }
    const model = scriptedModel([callLook, 'one', callLook, 'two', 'three'])
    const agent = createAgent({ model, tools: [look], log, context: live })
    await agent.run({ messages: say('a') }).result
    await agent.run({ messages: say('b'), context: { user: 7 } }).result
    expect(seen).toEqual([live, { user: 7 }])
    const bad = agent.run({ messages: say('c'), context: { fn: () => 1 } as never })
    await expect(bad.result).rejects.toMatchObject({
      code: 'invalid_data',
      message:
        'The context of a run must be JSON, because the log stores it. The value at ["fn"] is a Function. Pass such values to createAgent({ context }).',
    })
    const nested = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels))
    await agent.run({ messages: say('d'), context: nested(999) }).result
    const deep = agent.run({ messages: say('e'), context: nested(1000) })
    await expect(deep.result).rejects.toMatchObject({
      code: 'too_deep',
      message: expect.stringContaining('at most 999'),
    })
  })

  it('gives the runs of a scoped agent its context, whatever a run asks for', async () => {
    const seen: unknown[] = []
    const look = defineTool({
      id: 'look',
      description: '',
      inputSchema: object,
      execute: (_, { context, namespace }) => void seen.push([namespace, context]),
    })
    const callLook = { calls: [{ name: 'look', arguments: {} }] }
    const model = scriptedModel(({ prompt }) =>
      prompt.at(-1)?.role === 'user' ? callLook : 'Done.',
    )
    const agent = createAgent({ model, tools: [look], context: { user: 'nobody' }, reading: false })
    const ada = agent.scoped('team', { context: { user: 'ada' } })
    const start = { messages: say('a'), conversation: 'c' }
    await ada.run({ ...start, context: { user: 'eve' } }).result
    await ada.send('c', say('b'))
    await ada.resume('c').result
    await ada.send('c', say('c'), { mode: 'steer' })
    await ada.resume('c').result
    await ada.scoped('other').run(start).result
    await agent.scoped('team').run({ ...start, context: { user: 'bob' } }).result
    expect(seen).toEqual([
      ...new Array(3).fill(['team', { user: 'ada' }]),
      ['other', { user: 'ada' }],
      ['team', { user: 'bob' }],
    ])
    expect(() => agent.scoped('team', { context: { fn: () => 1 } as never })).toThrow(
      expect.objectContaining({ code: 'invalid_data' }),
    )
    await agent.close()
  })

  it('calls onEvent for assets that are saved directly', async () => {
    const heard: unknown[] = []
    const agent = createAgent({
      model: scriptedModel([]),
      callbacks: {
        onEvent: (event, { conversation }) => {
          if (event.type === 'ASSET_CREATED') heard.push([event.payload.base64, conversation])
        },
      },
    })
    await agent.assets.save(new Uint8Array([1, 2, 3]), 'application/octet-stream')
    expect(heard).toEqual([['AQID', null]])
  })

  it('computes the prompt of any step again, as the model received it', async () => {
    const photo = defineTool({
      id: 'photo',
      description: 'Takes',
      inputSchema: object,
      execute: () => ({ picture: new Uint8Array(PNG) }),
    })
    const model = scriptedModel([
      { text: 'Wait.', calls: [{ name: 'photo', arguments: { _outputPath: '†state.p' } }] },
      'There.',
      'More.',
    ])
    const log = createMemoryLog()
    const agent = createAgent({ model, tools: [photo], log, instructions: 'Be kind.' })
    const run = agent.run({ conversation: 'c', messages: say('Take one') })
    await run.result
    await agent.run({ conversation: 'c', messages: say('And?') }).result
    const answers = run.messages.filter(({ sender }) => sender.participant_role === 'assistant')
    for (const [i, { id }] of answers.entries()) {
      const debug = (await agent.debug('c', id)) as { request: { prompt: unknown; tools: unknown } }
      expect(debug.request.prompt).toEqual(JSON.parse(JSON.stringify(model.requests[i]?.prompt)))
      expect(debug.request.tools).toEqual(JSON.parse(JSON.stringify(model.requests[i]?.tools)))
    }
    expect(await agent.debug('c', 'none')).toBe(null)
    const size = JSON.stringify(await log.read('c')).length
    expect(size).toBeLessThan(8_000)
  })
})

describe('processors', () => {
  it('see events of their type and can add others', async () => {
    const seen: string[] = []
    const agent = createAgent({
      model: scriptedModel(['Hello']),
      processors: [
        {
          eventType: 'NEW_MESSAGE',
          process(event, { context }) {
            if (event.type !== 'NEW_MESSAGE' || event.payload.message_type === 'log')
              return undefined
            seen.push(String(event.payload.content))
            expect(context.assetStore.save).toBeTypeOf('function')
            expect(context.conversation).toBe('c')
            const payload = {
              ...event.payload,
              id: `log-${seen.length}`,
              message_type: 'log' as const,
            }
            return { producedEvents: [{ type: 'NEW_MESSAGE', payload }] }
          },
        },
      ],
    })
    const run = agent.run({ conversation: 'c', messages: say('Hi') })
    await run.result
    expect(seen).toEqual(['Hi', 'Hello'])
    expect(run.messages.map(({ id }) => id)).toContain('log-1')
    expect(run.messages.map(({ id }) => id)).toContain('log-2')
  })

  it('announce the assets that they save before the events they return, and not to themselves', async () => {
    const heard: string[] = []
    const save = async (context: ProcessorContext, name: string) => {
      const bytes = new TextEncoder().encode(name)
      return context.assets.save(bytes, 'text/plain', { name })
    }
    const log = createMemoryLog()
    const agent = createAgent({
      model: scriptedModel(['Hello']),
      log,
      processors: [
        {
          eventType: 'ASSET_CREATED',
          async process(event, { context }) {
            if (event.type !== 'ASSET_CREATED') return undefined
            heard.push(`first: ${event.payload.name}`)
            await context.assetStore.save(new Uint8Array([1]), 'application/octet-stream')
            return undefined
          },
        },
        {
          eventType: 'NEW_MESSAGE',
          async process(event, { context }) {
            if (event.type !== 'NEW_MESSAGE' || event.payload.content !== 'Hello') return undefined
            const { ref } = await save(context, 'summary.txt')
            const content = `Saved as <|${ref}|>`
            const payload = { ...event.payload, id: 'more', message_type: 'log' as const, content }
            return { producedEvents: [{ type: 'NEW_MESSAGE', payload }] }
          },
        },
      ],
    })
    await agent.run({ conversation: 'c', messages: say('Hi') }).result
    // An asset that a processor saves when another one is announced may come after the end of the run.
    const events = await vi.waitFor(async () => {
      const found = (await log.read('c')).map(({ event }) => event)
      expect(found.filter(({ type }) => type === 'ASSET_CREATED')).toHaveLength(2)
      return found
    })
    const announced = events.flatMap((event, i) => {
      return event.type === 'ASSET_CREATED' ? [{ ...event.payload, i }] : []
    })
    expect(heard).toEqual(['first: summary.txt'])
    expect(announced).toMatchObject([
      { name: 'summary.txt', by: 'system', mime: 'text/plain' },
      { by: 'system', mime: 'application/octet-stream' },
    ])
    const message = events.findIndex((event) => {
      return event.type === 'NEW_MESSAGE' && event.payload.id === 'more'
    })
    expect(announced[0]?.i).toBeLessThan(message)
  })

  it('announce what they saved even if they fail', async () => {
    const log = createMemoryLog()
    const agent = createAgent({
      model: scriptedModel(['Hello']),
      log,
      processors: [
        {
          eventType: 'STEP_STARTED',
          async process(_, { context }) {
            await context.assets.save(new Uint8Array([1]), 'application/octet-stream')
            throw new Error('no steps')
          },
        },
      ],
    })
    const run = agent.run({ conversation: 'c', messages: say('Hi') })
    await expect(run.result).rejects.toThrow('no steps')
    const records = await log.read('c')
    expect(records.filter(({ event }) => event.type === 'ASSET_CREATED')).toHaveLength(1)
  })

  it('end a run by throwing, once', async () => {
    const log = createMemoryLog()
    const agent = createAgent({
      model: scriptedModel(['Hello']),
      log,
      processors: [
        {
          eventType: 'STEP_STARTED',
          process() {
            throw new Error('no steps')
          },
        },
      ],
    })
    await expect(agent.run({ conversation: 'c', messages: say('Hi') }).result).rejects.toThrow(
      'no steps',
    )
    const ends = (await log.read('c')).filter(({ event }) => /^RUN_(FINI|ERR)/.test(event.type))
    expect(ends).toHaveLength(1)
  })
})

describe('agent.fork', () => {
  it('keeps the end of a run whose last message is shared', async () => {
    const log = createMemoryLog()
    const agent = createAgent({ model: scriptedModel(['one', 'two']), log })
    const run = agent.run({ conversation: 'c', messages: say('a') })
    await run.result
    await agent.run({ conversation: 'c', messages: say('b') }).result
    const reasons = async (id: string) => {
      const records: LogRecord[] = []
      for await (const record of readAll(log, id)) records.push(record)
      return foldAll(emptyConversation, records).runs.map(({ reason }) => reason)
    }
    expect(await reasons(await agent.fork('c', { at: run.messages[1]?.id }))).toEqual(['done'])
    expect(await reasons(await agent.fork('c', { before: run.messages[2]?.id }))).toEqual(['done'])
    expect(await reasons(await agent.fork('c', { before: run.messages[0]?.id }))).toEqual([])
    const both = { at: 'x', before: 'y' }
    await expect(agent.fork('c', both)).rejects.toMatchObject({ code: 'config_invalid' })
  })

  it('shares a message that was queued, with what was written before its run', async () => {
    const log = createMemoryLog()
    let open = (): void => {}
    const gate = new Promise<void>((done) => {
      open = done
    })
    const model = scriptedModel([
      async () => {
        await gate
        return 'one'
      },
      'two',
    ])
    const agent = createAgent({ model, log })
    const first = agent.run({ conversation: 'c', messages: say('a') })
    const second = await agent.start({ conversation: 'c', messages: say('b') })
    const third = await agent.start({ conversation: 'c', messages: say('c') })
    third.cancel()
    open()
    await Promise.all([first.result, second.result])
    const [id] = second.messageIds
    const texts = async (fork: string) =>
      (await agent.conversation(fork))?.messages.map(({ content }) => content)
    expect(await texts(await agent.fork('c', { at: id }))).toEqual(['a', 'one', 'b'])
    expect(await texts(await agent.fork('c', { before: id }))).toEqual(['a', 'one'])
  })

  it('makes branches whose origin is the conversation that wrote the last shared message', async () => {
    const log = createMemoryLog()
    const agent = createAgent({ model: scriptedModel(() => 'ok'), log })
    const says = async (conversation: string, text: string) => {
      const run = agent.run({ conversation, messages: say(text) })
      await run.result
      return run.messages.map(({ id }) => id)
    }
    const [a, ok] = await says('root', 'a')
    const [, , b] = await says('root', 'b')
    const branchOf = async (id: string) => (await log.find(id))?.branch
    const branch = (from: string, options: { at?: string; before?: string }) =>
      agent.fork(from, { ...options, branch: true })

    const x = await branch('root', { before: b })
    expect(await branchOf(x)).toEqual({ root: 'root', from: 'root', at: ok })
    const [, , mine, answer] = await says(x, 'mine')
    // Made in the branch before its own first message, so it is a branch of the root.
    const y = await branch(x, { before: mine })
    expect(await branchOf(y)).toEqual({ root: 'root', from: 'root', at: ok })
    const z = await branch(x, { at: answer })
    expect(await branchOf(z)).toEqual({ root: 'root', from: x, at: answer })
    const [, , , , last] = await says(z, 'more')
    expect(await branchOf(await branch(z, { before: last }))).toEqual({
      root: 'root',
      from: x,
      at: answer,
    })
    expect(await branchOf(await branch(z, { before: a }))).toEqual({
      root: 'root',
      from: 'root',
      at: null,
    })
    // A fork is a conversation of its own.
    const fork = await agent.fork(z)
    expect(await branchOf(fork)).toBeNull()
    const texts = (await agent.conversation(fork))?.messages.map(({ content }) => content)
    expect(texts).toEqual(['a', 'ok', 'mine', 'ok', 'more', 'ok'])
    expect((await log.list({ branchesOf: 'root' })).conversations).toHaveLength(6)
  })

  it('starts a copy of a conversation, up to a message, with finished runs and debug data', async () => {
    const log = createMemoryLog()
    const model = scriptedModel(['one', 'two', 'other'])
    const agent = createAgent({ model, log })
    const run = agent.run({ conversation: 'c', messages: say('a') })
    await run.result
    await agent.run({ conversation: 'c', messages: say('b') }).result
    const answer = run.messages[1]?.id
    const fork = await agent.fork('c', { at: answer })
    expect((await log.find(fork))?.status).toBe('idle')
    const other = agent.run({ conversation: fork, messages: say('c') })
    expect((await other.result).text).toBe('other')
    expect(other.messages.map(({ content }) => content)).toEqual(['a', 'one', 'c', 'other'])
    expect(prompts(model)[2]).not.toContain('two')
    await expect(agent.fork('c', { at: 'none' })).rejects.toMatchObject({
      code: 'message_not_found',
    })
    await expect(agent.fork('none')).rejects.toMatchObject({ code: 'conversation_not_found' })
    await expect(agent.fork('c', { id: fork })).rejects.toMatchObject({
      code: 'conversation_exists',
    })
  })
})

describe('agent.asTool', () => {
  it('runs in a conversation of its own, and sees only its input', async () => {
    const log = createMemoryLog()
    const inner = scriptedModel(['The sum is 3.'])
    const helper = createAgent({ model: inner, log, instructions: 'You add.' })
    const outer = scriptedModel([
      { calls: [{ id: 'h', name: 'helper', arguments: { task: 'Add 1 and 2' } }] },
      'It is 3.',
    ])
    const add = helper.asTool({
      id: 'helper',
      description: 'Adds',
      data: ['†state.unit', '†secret'],
    })
    const agent = createAgent({ model: outer, log, tools: [add] })
    const run = agent.run({
      conversation: 'c',
      messages: [
        { type: 'state', state: { unit: 'cm', salary: 9 } },
        ...say('How much is 1 and 2?'),
      ],
    })
    const events = await eventsOf(run)
    expect((await run.result).text).toBe('It is 3.')
    expect(prompts(inner)[0]).toContain('Add 1 and 2')
    expect(prompts(inner)[0]).toContain('cm')
    expect(prompts(inner)[0]).not.toMatch(/salary|How much/)
    expect(events.filter(({ type }) => type === 'RUN_FINISHED')).toHaveLength(1)
    const child = (await log.read('c/h')).map(({ event }) => event)
    const started = child.find((event) => event.type === 'RUN_STARTED')
    expect(started).toMatchObject({ parentRunId: run.id })
    const answer = child.findLast(
      (event): event is Extract<ConversationEvent, { type: 'NEW_MESSAGE' }> =>
        event.type === 'NEW_MESSAGE',
    )
    expect(answer?.payload.metadata.attribution).toBe('helper')
  })

  it('continues after a crash, and is cancelled with its caller', async () => {
    const log = createMemoryLog()
    const hanging = { ...scriptedModel([]), doStream: () => new Promise<never>(() => {}) }
    const helper = createAgent({ model: hanging, log })
    const outer = scriptedModel([
      { calls: [{ id: 'h', name: 'helper', arguments: { task: 'Wait' } }] },
    ])
    const agent = createAgent({
      model: outer,
      log,
      tools: [helper.asTool({ id: 'helper', description: '' })],
    })
    const run = agent.run({ conversation: 'c', messages: say('go') })
    await expect.poll(async () => (await log.find('c/h'))?.status).toBe('running')
    run.cancel()
    expect((await run.result).reason).toBe('cancelled')
    await expect.poll(async () => (await log.find('c/h'))?.status).toBe('idle')
  })

  it('is cancelled with its caller even while it starts', async () => {
    const log = createMemoryLog()
    const begins = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    const slow: ConversationLog = {
      ...log,
      async read(...args) {
        begins.resolve()
        await held.promise
        return log.read(...args)
      },
    }
    const hanging = { ...scriptedModel([]), doStream: () => new Promise<never>(() => {}) }
    const helper = createAgent({ model: hanging, log: slow })
    const outer = scriptedModel([
      { calls: [{ id: 'h', name: 'helper', arguments: { task: 'Wait' } }] },
    ])
    const tools = [helper.asTool({ id: 'helper', description: '' })]
    const run = createAgent({ model: outer, log, tools }).run({
      conversation: 'c',
      messages: say('go'),
    })
    await begins.promise
    run.cancel()
    expect((await run.result).reason).toBe('cancelled')
    held.resolve()
    await expect
      .poll(async () => (await log.read('c/h')).at(-1)?.event)
      .toMatchObject({ type: 'RUN_FINISHED', result: { reason: 'cancelled' } })
  })
})

describe('agent.resume', () => {
  it('returns a run that can be cancelled before it is found', async () => {
    const hanging = { ...scriptedModel([]), doStream: () => new Promise<never>(() => {}) }
    const agent = createAgent({ model: hanging })
    const run = await agent.start({ conversation: 'c', messages: say('go') })
    const again = agent.resume('c')
    again.cancel()
    expect((await again.result).reason).toBe('cancelled')
    expect((await run.result).reason).toBe('cancelled')
  })
})
