import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { defineTool } from '../boundary/tool.ts'
import { emptyConversation } from '../core/events/conversation-state.ts'
import { foldAll } from '../core/events/fold.ts'
import { readAll } from '../log/conversation-log.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import { say } from './fixtures/agent.ts'
import { request } from './request/request.ts'

const PRICE = { input: 1, output: 1 }
const call = (name: string, args: Record<string, unknown> = {}) => ({
  calls: [{ name, arguments: args }],
  usage: { inputTokens: 10, outputTokens: 10 },
})

function spender(tries: readonly (number | Error)[], more: { retries?: number } = {}) {
  let count = 0
  return defineTool({
    id: 'spend',
    description: '',
    inputSchema: { type: 'object' },
    ...more,
    idempotent: true,
    execute(_, { addUsage }) {
      addUsage({ inputTokens: 500, outputTokens: 1 })
      const result = tries[count++]
      if (result instanceof Error) throw result
      return result
    },
  })
}

describe('the usage of tools', () => {
  it('counts as usage of the run, for its limits, its result and every fold of the log', async () => {
    const model = scriptedModel(Array.from({ length: 5 }, () => call('spend')))
    const log = createMemoryLog()
    const limits = { tokens: 1000 }
    const agent = createAgent({ model, tools: [spender([1, 2, 3, 4])], limits, log })
    const run = agent.run({ messages: say('go') })
    const { reason, usage } = await run.result
    expect(reason).toBe('token_limit')
    expect(usage).toEqual({ inputTokens: 1020, outputTokens: 22 })
    const records = []
    for await (const record of readAll(log, run.conversation)) records.push(record)
    const state = foldAll(emptyConversation, records)
    expect(state.runs[0]?.usage).toEqual(usage)
  })

  it('counts for failed calls and for each attempt', async () => {
    const model = scriptedModel([call('spend'), 'Done.'])
    const tools = [spender([new Error('no'), 2], { retries: 1 })]
    const { usage } = await createAgent({ model, tools }).run({ messages: say('go') }).result
    expect(usage.inputTokens).toBe(1010)
    const failing = createAgent({
      model: scriptedModel([call('spend'), 'Done.']),
      tools: [spender([new Error('no')])],
    })
    expect((await failing.run({ messages: say('go') }).result).usage.inputTokens).toBe(510)
  })

  it('counts for each item of a mapped call', async () => {
    const model = scriptedModel([call('spend', { _each: [1, 2, 3] }), 'Done.'])
    const agent = createAgent({ model, tools: [spender([1, 2, 3])] })
    expect((await agent.run({ messages: say('go') }).result).usage.inputTokens).toBe(1510)
  })

  it('ignores negative and invalid counts', async () => {
    const model = scriptedModel([call('odd'), 'Done.'])
    const odd = defineTool({
      id: 'odd',
      description: '',
      inputSchema: { type: 'object' },
      execute: (_, { addUsage }) => addUsage({ inputTokens: -500, outputTokens: Number.NaN }),
    })
    const { usage } = await createAgent({ model, tools: [odd] }).run({ messages: say('go') }).result
    expect(usage).toEqual({ inputTokens: 10, outputTokens: 10 })
  })

  it('includes sub-agents, with their cost', async () => {
    const used = { inputTokens: 300, outputTokens: 100 }
    const capabilities = { price: PRICE }
    const inner = createAgent({
      model: scriptedModel([{ text: 'Red.', usage: used }]),
      capabilities,
    })
    const agent = createAgent({
      model: scriptedModel([call('ask', { task: 'Which colour?' }), 'Red.']),
      tools: [inner.asTool({ id: 'ask', description: 'Knows' })],
      capabilities,
    })
    const { usage } = await agent.run({ messages: say('go') }).result
    expect(usage).toEqual({ inputTokens: 310, outputTokens: 110, cost: expect.closeTo(0.00042) })
  })

  it('includes ask_about, even if no answer is valid', async () => {
    const ask = call('ask_about', {
      refs: ['†result#1'],
      question: 'Is it spam?',
      schema: { type: 'boolean' },
    })
    const answer = (text: string) => ({ text, usage: { inputTokens: 70, outputTokens: 5 } })
    const read = defineTool({
      id: 'read',
      description: '',
      inputSchema: { type: 'object' },
      readOnly: true,
      execute: () => 'BUY NOW',
    })
    const agent = createAgent({
      model: scriptedModel([
        ...[call('read'), ask, answer('{"answer":true}')],
        ...[ask, answer('maybe'), answer('maybe'), 'Spam.'],
      ]),
      tools: [read],
      trust: 'quarantine',
      capabilities: { price: PRICE },
    })
    const { usage, text } = await agent.run({ messages: say('Is it spam?') }).result
    expect(text).toBe('Spam.')
    expect(usage).toEqual({ inputTokens: 240, outputTokens: 45, cost: expect.closeTo(0.000285) })
  })
  it('counts what a sub-agent used before its call timed out', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const wait = defineTool({
      id: 'wait',
      description: 'wait',
      inputSchema: { type: 'object' },
      execute: () => vi.advanceTimersByTimeAsync(60_000),
    })
    const model = scriptedModel([call('wait')])
    const sub = createAgent({ model, tools: [wait], limits: { callTimeoutMs: Infinity } })
    const ask = sub.asTool({ id: 'ask', description: 'ask', timeoutMs: 60_000 })
    const caller = scriptedModel([
      call('ask', { task: 'go' }),
      { text: 'Late.', usage: call('').usage },
    ])
    const { text, usage } = await createAgent({ model: caller, tools: [ask] }).run({
      messages: say('go'),
    }).result
    expect(text).toBe('Late.')
    expect(usage).toMatchObject({ inputTokens: 30, outputTokens: 30 })
  })
})

describe('request', () => {
  it('reports the usage and cost of each attempt, even if it fails', async () => {
    const answer = (text: string) => ({ text, usage: { inputTokens: 100, outputTokens: 10 } })
    const model = scriptedModel([answer('no'), answer('{"a":1}'), answer('no'), answer('no')])
    const told: unknown[] = []
    const config = {
      model,
      capabilities: { price: PRICE },
      onUsage: (one: unknown) => void told.push(one),
    }
    const schema = { type: 'object', required: ['a'] }
    const { usage } = await request(config, schema, say('go'))
    expect(usage).toEqual({ inputTokens: 200, outputTokens: 20, cost: expect.closeTo(0.00022) })
    expect(told).toHaveLength(2)
    await expect(request(config, schema, say('go'))).rejects.toMatchObject({
      code: 'output_invalid',
    })
    expect(told).toHaveLength(4)
  })
})
