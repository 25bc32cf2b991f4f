import { describe, expect, it } from 'vitest'
import { defineTool, type Tool } from '../boundary/tool.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import { eventsOf, say } from './fixtures/agent.ts'

const object = { type: 'object' } as const
const callIt = { calls: [{ name: 'it', arguments: {} }] }

/** A run of a model that calls the tool once. */
async function runOf(options: Partial<Tool>) {
  const tool = { id: 'it', description: '', inputSchema: object, execute: () => null, ...options }
  const log = createMemoryLog()
  const agent = createAgent({ model: scriptedModel([callIt, 'Done.']), tools: [tool as Tool], log })
  const run = agent.run({ conversation: 'c', messages: say('go') })
  const { text } = await run.result
  const result = run.messages.find(({ metadata }) => metadata.tool_result)
  return { run, text, log, result, error: result?.metadata.tool_result?.error }
}

describe('a tool that throws', () => {
  const trap = () => {
    throw new Error('trapped')
  }
  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['an object without prototype', Object.create(null)],
    ['what cannot be made text', { toString: trap }],
    [
      'a proxy that refuses everything',
      new Proxy({}, { get: trap, getPrototypeOf: trap, has: trap }),
    ],
    ['an error whose message throws', Object.defineProperty(new Error(), 'message', { get: trap })],
    ['an error whose message is no text', Object.assign(new Error(), { message: { a: 1 } })],
    ['a symbol', Symbol('s')],
  ])('%s: the model hears of it and the run goes on', async (_, thrown) => {
    const { text, error } = await runOf({
      execute() {
        throw thrown
      },
    })
    expect(text).toBe('Done.')
    expect(error?.code).toBe('tool_failed')
    expect(typeof error?.message).toBe('string')
  })

  it('a message of 50 MB: it is cut', async () => {
    const { error } = await runOf({
      execute() {
        throw new Error('x'.repeat(50_000_000))
      },
    })
    expect(error?.message.length).toBeLessThan(5_000)
    expect(error?.message).toContain('50000000 characters')
  })

  it.each<[string, unknown[]]>([
    ['{"message":"Half","fraction":0.5}, undefined', [{ message: 'Half', fraction: 0.5 }]],
    ['undefined, undefined', []],
    ['"Half", "50%"', ['Half', '50%']],
  ])('progress(%s): it says how to call it', async (shown, given) => {
    const { error, run } = await runOf({
      execute(_, { progress }) {
        Reflect.apply(progress, undefined, given)
        return 'ok'
      },
    })
    expect(error).toMatchObject({
      code: 'invalid_data',
      message: `context.progress takes a text, and optionally a fraction from 0 to 1, such as progress("Reading", 0.5). It got: ${shown}`,
    })
    const types = (await eventsOf(run)).map(({ type }) => type)
    expect(types).not.toContain('TOOL_PROGRESS')
  })

  it('after the run: nothing follows its end', async () => {
    let late = (_: string): void => {}
    const { run } = await runOf({
      execute(_, { progress }) {
        late = progress
        return 'ok'
      },
    })
    late('too late')
    const events = await eventsOf(run)
    expect(events.at(-1)?.type).toBe('RUN_FINISHED')
    expect(events.filter(({ type }) => type === 'TOOL_PROGRESS')).toEqual([])
  })
})

describe('retries', () => {
  it('call an idempotent tool again, and log the number of each attempt', async () => {
    const attempts: number[] = []
    const { log, result } = await runOf({
      idempotent: true,
      retries: 2,
      execute(_, { attempt, toolCallId }) {
        attempts.push(attempt)
        expect(toolCallId).toBeTruthy()
        if (attempt < 2) throw new Error('not yet')
        return 'there'
      },
    })
    expect(attempts).toEqual([1, 2])
    expect(result?.content).toBe('there')
    const begun = (await log.read('c')).flatMap(({ event }) =>
      event.type === 'TOOL_STARTED' ? event.attempt : [],
    )
    expect(begun).toEqual([1, 2])
  })

  it('are rejected for a tool that is not idempotent', () => {
    expect(() =>
      defineTool({ id: 'it', description: '', inputSchema: object, retries: 1, execute: () => 1 }),
    ).toThrow(/idempotent/)
  })
})

describe('output.choose', () => {
  it('sends the result to the alternative that the tool names', async () => {
    const model = scriptedModel([
      { calls: [{ name: 'it', arguments: { _outputPath: '†state.good || †state.odd' } }] },
      'Done.',
    ])
    const it = defineTool({
      id: 'it',
      description: '',
      inputSchema: object,
      execute(_, { output }) {
        expect(() => output.choose('†state.none')).toThrow(/†state.good or †state.odd/)
        output.choose('†state.odd')
        return 7
      },
    })
    const run = createAgent({ model, tools: [it] }).run({ messages: say('go') })
    await run.result
    const written = run.messages.find(({ content_type }) => content_type === 'data')
    expect(written?.content).toMatchObject({ _path: ['odd'], data: 7 })
  })

  it.each([
    ['†state#b.x', { _outputPath: '†state#a.x || †state#b.x' }, '†state#b.x'],
    ['†state.a.b', { _outputPath: '†state["a.b"] || †state.a.b' }, '†state.a.b'],
    ['†state.b', { _outputPath: '†state.a || †state.b', _instance: 'i' }, '†state#i.b'],
  ])('tells instances and odd keys apart: %s of %o', async (path, args, to) => {
    const model = scriptedModel([{ calls: [{ name: 'it', arguments: args }] }, 'Done.'])
    const it = defineTool({
      id: 'it',
      description: '',
      inputSchema: object,
      execute(_, { output }) {
        output.choose(path)
        return 7
      },
    })
    const run = createAgent({ model, tools: [it] }).run({ messages: say('go') })
    await run.result
    const results = run.messages.flatMap(({ metadata }) => metadata.tool_result ?? [])
    expect(results).toMatchObject([{ written_to: [to] }])
  })

  it('writes with the method that the call or the tool names', async () => {
    const push = { name: 'it', arguments: { _outputPath: '†state.all', _outputMethod: 'push' } }
    const model = scriptedModel([{ calls: [push, push] }, 'Done.'])
    let n = 0
    const it = defineTool({
      id: 'it',
      description: '',
      inputSchema: object,
      execute: () => ++n,
    })
    const read = defineTool({
      id: 'read',
      description: '',
      inputSchema: object,
      execute: () => 1,
    })
    const agent = createAgent({ model, tools: [it, read] })
    const run = agent.run({ messages: say('go') })
    await run.result
    const methods = run.messages.flatMap(({ content_type, content }) =>
      content_type === 'data' ? (content as { _outputMethod: string })._outputMethod : [],
    )
    expect(methods).toEqual(['push', 'push'])
  })
})
