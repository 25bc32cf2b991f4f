import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { defineTool } from '../boundary/tool.ts'
import type { LogRecord } from '../core/events/events.ts'
import type { ConversationLog } from '../log/conversation-log.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import type { LanguageModel } from '../models/language-model.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import { eventsOf, say } from './fixtures/agent.ts'

const never = defineTool({
  id: 'never',
  description: '',
  inputSchema: { type: 'object' },
  execute: () => new Promise(() => {}),
})
const quick = defineTool({
  id: 'quick',
  description: '',
  inputSchema: { type: 'object' },
  execute: () => 'ok',
})
const callOf = (name: string, usage = { inputTokens: 600, outputTokens: 400 }) => ({
  calls: [{ name, arguments: {} }],
  usage,
})

/** A model whose stream consists of these parts, and then stalls. */
function modelOf(parts: unknown[], { ends = false } = {}): LanguageModel {
  return {
    specificationVersion: 'v4',
    provider: 'test',
    modelId: 'odd',
    supportedUrls: {},
    doGenerate: async () => {
      throw new Error('never')
    },
    doStream: async () => ({
      stream: new ReadableStream<LanguageModelV4StreamPart>({
        start(controller) {
          for (const part of parts) controller.enqueue(part as LanguageModelV4StreamPart)
          if (ends) controller.close()
        },
      }),
    }),
  }
}

/** A log whose clock is ahead of this machine's. */
function ahead(offset: { hours: number }): ConversationLog {
  const log = createMemoryLog()
  const later = (record: LogRecord): LogRecord => ({
    ...record,
    timestamp: new Date(Date.parse(record.timestamp) + offset.hours * 3_600_000).toISOString(),
  })
  return {
    ...log,
    append: async (...args) => (await log.append(...args)).map(later),
    read: async (...args) => (await log.read(...args)).map(later),
    subscribe: (listener, options) =>
      log.subscribe(
        (change) => listener({ ...change, records: change.records.map(later) }),
        options,
      ),
  }
}

describe('limits', () => {
  it.each([-3, 3])(
    'count time by the clock of the log, which is off by %d hours',
    async (hours) => {
      const model = scriptedModel([callOf('quick'), 'done'])
      const limits = { runTimeoutMs: 60_000 }
      const agent = createAgent({ model, tools: [quick], limits, log: ahead({ hours }) })
      const { reason } = await agent.run({ messages: say('go') }).result
      expect(reason).toBe('done')
    },
  )

  it.each([
    [{ steps: 2 }, 'step_limit'],
    [{ tokens: 1_500 }, 'token_limit'],
    [{ cost: 0.003 }, 'cost_limit'],
  ] as const)('%o end a run with %s', async (limits, reason) => {
    const model = scriptedModel(Array.from({ length: 5 }, () => callOf('quick')))
    const price = { input: 1, output: 3 }
    const run = createAgent({ model, tools: [quick], limits, capabilities: { price } }).run({
      messages: say('go'),
    })
    expect((await run.result).reason).toBe(reason)
    expect(model.requests).toHaveLength(2)
  })

  it('of tokens warn once if the provider reports no usage', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    onTestFinished(() => warn.mockRestore())
    const answer = { text: 'Hi', usage: { inputTokens: null, outputTokens: null } }
    const model = scriptedModel([answer, answer])
    const limited = createAgent({ model, limits: { tokens: 5 } })
    for (let i = 0; i < 2; i++) await limited.run({ messages: say('go') }).result
    expect(warn.mock.calls.flat().map(String)).toEqual([
      expect.stringContaining('reports no usage, so limits.tokens has no effect'),
    ])
  })

  it('of cost require a price', async () => {
    const agent = createAgent({ model: scriptedModel(['Hi']), limits: { cost: 1 } })
    const { result } = agent.run({ messages: say('go') })
    await expect(result).rejects.toMatchObject({ code: 'config_invalid' })
  })

  it('count what an answer cost, including cached tokens', async () => {
    const used = { inputTokens: 1_000, outputTokens: 100 }
    const model = scriptedModel([{ text: 'Hi', usage: used }])
    const price = { input: 1, output: 3 }
    const run = createAgent({ model, capabilities: { price } }).run({ messages: say('go') })
    expect((await run.result).usage).toEqual({ ...used, cost: 0.0013 })
    expect(run.messages.at(-1)?.metadata.footer_items).toEqual(['1000 tokens in, 100 out, $0.0013'])
  })

  it('of time end a run during a call that ignores its signal', async () => {
    const agent = createAgent({
      model: scriptedModel([callOf('never')]),
      tools: [never],
      limits: { runTimeoutMs: 30 },
    })
    const run = agent.run({ conversation: 'c', messages: say('go') })
    const events = await eventsOf(run)
    expect((await run.result).reason).toBe('time_limit')
    expect(events.at(-1)?.type).toBe('RUN_FINISHED')
  })

  it('of time do not count how long a person took while a call ran', async () => {
    const { promise: worked, resolve: work } = Promise.withResolvers<string>()
    const slow = defineTool({
      id: 'slow',
      description: '',
      inputSchema: { type: 'object' },
      execute: () => worked,
    })
    const asking = defineTool({
      id: 'ask',
      description: '',
      inputSchema: { type: 'object' },
      needsApproval: true,
      execute: () => 'asked',
    })
    const calls = [...callOf('slow').calls, { id: 'a', name: 'ask', arguments: {} }]
    const offset = { hours: 0 }
    const agent = createAgent({
      model: scriptedModel([{ calls }, 'Both.']),
      tools: [slow, asking],
      limits: { runTimeoutMs: 1_800_000 },
      log: ahead(offset),
    })
    const run = agent.run({ conversation: 'c', messages: say('go') })
    for await (const { type } of run) if (type === 'APPROVAL_REQUESTED') break
    offset.hours = 1
    await agent.approve('c', 'a', { approved: true })
    work('slow')
    expect((await run.result).text).toBe('Both.')
    const results = run.messages.flatMap(({ metadata, content }) =>
      metadata.tool_result ? [content] : [],
    )
    expect(results.sort()).toEqual(['asked', 'slow'])
  })

  it('of time use the clock, even if a timer fires early', async ({ onTestFinished }) => {
    const real = { date: Date.now.bind(Date), performance: performance.now.bind(performance) }
    const clocks = [vi.spyOn(Date, 'now'), vi.spyOn(performance, 'now')] as const
    onTestFinished(() => clocks.forEach((clock) => void clock.mockRestore()))
    const slow = defineTool({
      id: 'never',
      description: '',
      inputSchema: { type: 'object' },
      execute() {
        // The clock is set back after the timer was set.
        clocks[0].mockImplementation(() => real.date() - 20)
        clocks[1].mockImplementation(() => real.performance() - 20)
        return new Promise(() => {})
      },
    })
    const agent = createAgent({
      model: scriptedModel([callOf('never')]),
      tools: [slow],
      limits: { runTimeoutMs: 30 },
    })
    expect((await agent.run({ messages: say('go') }).result).reason).toBe('time_limit')
  })

  it('of a call let it fail, and the run continues', async () => {
    const agent = createAgent({
      model: scriptedModel([callOf('never'), 'Too slow.']),
      tools: [never],
      limits: { callTimeoutMs: 10 },
    })
    const run = agent.run({ messages: say('go') })
    expect((await run.result).text).toBe('Too slow.')
    const errors = run.messages.flatMap(({ metadata }) => metadata.tool_result?.error ?? [])
    expect(errors).toMatchObject([{ code: 'tool_timeout' }])
  })

  it('of a tool take precedence, and abort its signal', async () => {
    let reason: unknown
    const slow = defineTool({
      id: 'slow',
      description: '',
      inputSchema: { type: 'object' },
      timeoutMs: 5,
      execute: (_, { signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            reason = signal.reason
            reject(signal.reason)
          })
        }),
    })
    const model = scriptedModel([callOf('slow'), 'Done.'])
    await createAgent({ model, tools: [slow] }).run({ messages: say('go') }).result
    expect(reason).toMatchObject({ code: 'tool_timeout' })
  })

  it('bound how many calls of one answer run at once', async () => {
    let running = 0
    let most = 0
    const busy = defineTool({
      id: 'busy',
      description: '',
      inputSchema: { type: 'object' },
      async execute() {
        most = Math.max(most, ++running)
        await new Promise((resolve) => setTimeout(resolve, 2))
        running--
      },
    })
    const calls = Array.from({ length: 20 }, () => ({ name: 'busy', arguments: {} }))
    const model = scriptedModel([{ calls }, 'Done.'])
    await createAgent({ model, tools: [busy], limits: { parallelCalls: 3 } }).run({
      messages: say('go'),
    }).result
    expect(most).toBe(3)
  })

  it('of silence end a model that stops responding, before its first part and after', async () => {
    const silent: LanguageModel = { ...modelOf([]), doStream: () => new Promise(() => {}) } as never
    const hanging = modelOf([{ type: 'stream-start', warnings: [] }])
    for (const model of [silent, hanging]) {
      const run = createAgent({ model, limits: { modelTimeoutMs: 10 } }).run({
        messages: say('go'),
      })
      await expect(run.result).rejects.toMatchObject({ code: 'model_failed' })
    }
  })

  it('are rejected if they are unknown or not positive numbers', () => {
    const model = scriptedModel([])
    for (const limits of [{ step: 1 }, { steps: 0 }, { steps: 'x' }, { tokens: -1 }]) {
      expect(() => createAgent({ model, limits: limits as never })).toThrow(/limits/)
    }
  })
})

describe('a model that misbehaves', () => {
  it('can be cancelled even if it ignores its signal', async () => {
    const model = modelOf([
      { type: 'stream-start', warnings: [] },
      { type: 'text-delta', id: 't', delta: 'As I was' },
    ])
    const log = createMemoryLog()
    const agent = createAgent({ model, log })
    const run = agent.run({ conversation: 'c', messages: say('go') })
    for await (const event of run) if (event.type === 'TEXT_MESSAGE_CONTENT') run.cancel()
    expect((await run.result).reason).toBe('cancelled')
    expect(run.messages.at(-1)).toMatchObject({
      content: 'As I was',
      metadata: { incomplete: true },
    })
    await agent.close()
  })

  it.each([
    ['nothing', []],
    ['no finish', [{ type: 'text-delta', id: 't', delta: 'x' }]],
    ['a finish without reason or usage', [{ type: 'finish' }]],
    ['parts that are none', [null, undefined, 1, { type: 'future-part' }, {}]],
    ['an error part', [{ type: 'error', error: new Error('overloaded') }]],
    ['an error that cannot be read', [{ type: 'error', error: Object.create(null) }]],
  ])('streams %s: the run ends once, with model_failed', async (_, parts) => {
    const log = createMemoryLog()
    const agent = createAgent({ model: modelOf(parts, { ends: true }), log })
    const run = agent.run({ conversation: 'c', messages: say('go') })
    await expect(run.result).rejects.toMatchObject({ code: 'model_failed' })
    const ends = (await log.read('c')).filter(({ event }) => /^RUN_(FINI|ERR)/.test(event.type))
    expect(ends).toHaveLength(1)
  })

  it.each([
    ['without input', { type: 'tool-call', toolCallId: 'c1', toolName: 'quick' }],
    [
      'with an object as input',
      { type: 'tool-call', toolCallId: 'c1', toolName: 'quick', input: {} },
    ],
    ['without an id', { type: 'tool-call', toolName: 'quick', input: '{}' }],
    ['without a name', { type: 'tool-call', toolCallId: 'c1', input: '{}' }],
    [
      'with text that is not JSON',
      { type: 'tool-call', toolCallId: 'c1', toolName: 'quick', input: '{' },
    ],
  ])('makes a call %s: it has a result, and the run goes on to its limit', async (_, part) => {
    const finish = { type: 'finish', finishReason: { unified: 'tool-calls' }, usage: {} }
    const model = modelOf([part, finish], { ends: true })
    const run = createAgent({ model, tools: [quick], limits: { steps: 2 } }).run({
      messages: say('go'),
    })
    expect((await run.result).reason).toBe('step_limit')
    expect(run.messages.filter(({ metadata }) => metadata.tool_result)).toHaveLength(2)
  })

  it('fails after its second call started: the calls keep their results and are not requested again', async () => {
    let asked = 0
    const ran: unknown[] = []
    const work = defineTool({
      id: 'work',
      description: '',
      inputSchema: { type: 'object' },
      execute: ({ n }) => ran.push(n),
    })
    const call = (n: number) => ({
      type: 'tool-call',
      toolCallId: `c${n}`,
      toolName: 'work',
      input: JSON.stringify({ n }),
    })
    const broken = modelOf(
      [
        { type: 'text-delta', id: 't', delta: 'Working' },
        call(1),
        call(2),
        { type: 'error', error: new Error('cut') },
      ],
      { ends: true },
    )
    const after = scriptedModel(['Both are done.'])
    const model: LanguageModel = {
      ...broken,
      doStream: (options: never) => (asked++ === 0 ? broken : after).doStream(options) as never,
    } as LanguageModel
    const run = createAgent({ model, tools: [work] }).run({ messages: say('go') })
    expect((await run.result).text).toBe('Both are done.')
    expect(ran).toEqual([1, 2])
    const answer = run.messages.find(({ metadata }) => metadata.tool_calls)
    expect(answer).toMatchObject({ content: 'Working', metadata: { incomplete: true } })
    expect(answer?.metadata.tool_calls?.map(({ id }) => id)).toEqual(['c1', 'c2'])
  })

  it('makes 2,000 calls in one answer, and all results are in its order', async () => {
    const calls = Array.from({ length: 2000 }, (_, n) => ({ name: 'echo', arguments: { n } }))
    const echo = defineTool({
      id: 'echo',
      description: '',
      inputSchema: { type: 'object' },
      execute: ({ n }) => n,
    })
    const run = createAgent({ model: scriptedModel([{ calls }, 'Done.']), tools: [echo] }).run({
      messages: say('go'),
    })
    await run.result
    const results = run.messages.filter(({ metadata }) => metadata.tool_result)
    expect(results.map(({ content }) => content)).toEqual(calls.map(({ arguments: { n } }) => n))
  })
})
