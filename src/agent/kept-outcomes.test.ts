import { describe, expect, it } from 'vitest'
import { createLife } from '../../scripts/torture/runs/life.ts'
import { mortalLog } from '../../scripts/torture/runs/mortal-log.ts'
import { defineTool, type Tool } from '../boundary/tool.ts'
import type { Message } from '../core/messages/message.ts'
import { type ConversationLog, readAll } from '../log/conversation-log.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import type { Agent, AgentOptions } from './agent-contract.ts'
import { say } from './fixtures/agent.ts'
import { readState } from './read-conversation.ts'

const never = () => new Promise(() => {})

const isOf = (id: string) => (message: Message) => message.metadata.tool_result?.tool_call_id === id

interface Options extends Partial<AgentOptions> {
  slow?: Promise<unknown>
  pay?: Partial<Tool>
  isResumed?: boolean
}

/** The first answer calls `slow`, which by default never ends, and then `pay`, which ends at once. */
function payingAgent(
  log: ConversationLog,
  { slow: waiting = never(), pay = {}, isResumed = false, ...options }: Options = {},
) {
  let payments = 0
  const slow = defineTool({
    id: 'slow',
    description: 'Takes long.',
    inputSchema: { type: 'object' },
    execute: () => waiting,
  })
  const tools = [
    slow,
    defineTool({
      id: 'pay',
      description: 'Pays.',
      inputSchema: { type: 'object' },
      execute: () => ({ receipt: ++payments }),
      ...pay,
    }),
  ]
  const calls = [
    { id: 'slow', name: 'slow', arguments: {} },
    { id: 'pay', name: 'pay', arguments: { _outputPath: '†state.paid' } },
  ]
  const script = isResumed ? ['Done.'] : [{ calls }, 'Done.']
  const model = scriptedModel(script)
  return { agent: createAgent({ model, tools, log, ...options }), payments: () => payments }
}

async function startedAndPaid(agent: Agent, log: ConversationLog): Promise<void> {
  await agent.start({ conversation: 'c', messages: say('Pay') })
  await expect.poll(async () => (await readState(log, 'c')).calls.pay?.outcome).toBeDefined()
}

async function paidIn(agent: Agent): Promise<unknown> {
  const conversation = await agent.conversation('c')
  return conversation?.read('†state.paid').catch(() => undefined)
}

async function resultsIn(log: ConversationLog): Promise<Record<string, unknown>> {
  const { messages } = await readState(log, 'c')
  return Object.fromEntries(messages.flatMap(resultOf))
}

function resultOf({ content, metadata: { tool_result } }: Message): [string, unknown][] {
  return tool_result ? [[tool_result.tool_call_id, tool_result.error?.code ?? content]] : []
}

describe('a call that has ended before an earlier one', () => {
  it('does not run again after its process has died, and its value is written', async () => {
    const log = createMemoryLog()
    const life = createLife()
    const { agent, payments } = payingAgent(mortalLog(log, life))
    await startedAndPaid(agent, log)
    life.end()
    const next = payingAgent(log, { isResumed: true })
    expect(await next.agent.resume('c').result).toMatchObject({ reason: 'done' })
    expect([payments(), next.payments()]).toEqual([1, 0])
    expect(await resultsIn(log)).toEqual({
      slow: 'interrupted',
      pay: { written_to: ['†state.paid'], value: { receipt: 1 } },
    })
    expect(await paidIn(next.agent)).toEqual({ receipt: 1 })
    await next.agent.close()
  })

  it('keeps its result when the agent is closed', async () => {
    const log = createMemoryLog()
    const { agent } = payingAgent(log)
    await startedAndPaid(agent, log)
    await agent.close()
    const next = payingAgent(log, { isResumed: true })
    await next.agent.resume('c').result
    expect(next.payments()).toBe(0)
    expect(await resultsIn(log)).toMatchObject({ pay: { value: { receipt: 1 } } })
    await next.agent.close()
  })

  it('keeps its result when the run is cancelled, and writes nothing', async () => {
    const log = createMemoryLog()
    const { agent } = payingAgent(log)
    await startedAndPaid(agent, log)
    await agent.cancel('c')
    expect(await resultsIn(log)).toEqual({ pay: { receipt: 1 } })
    const { calls } = await readState(log, 'c')
    expect([calls.slow?.status, calls.pay?.status]).toEqual(['unanswered', 'done'])
    expect(calls.pay?.outcome).toBeUndefined()
    expect(await paidIn(agent)).toBeUndefined()
    await agent.close()
  })

  it('keeps its error, its large value, and what the model sees of it', async () => {
    const big = 'x'.repeat(100_000)
    const cases: [Partial<Tool>, unknown][] = [
      [
        { execute: () => Promise.reject(new Error('No money.')) },
        { error: { code: 'tool_failed' } },
      ],
      [{ execute: () => big }, { value: { offloaded: true } }],
      [{ execute: () => ({ big }), toModelOutput: () => 'much' }, { modelOutput: 'much' }],
    ]
    for (const [pay, kept] of cases) {
      const log = createMemoryLog()
      const life = createLife()
      await startedAndPaid(payingAgent(mortalLog(log, life), { pay }).agent, log)
      life.end()
      const before = await readState(log, 'c')
      expect(before.calls.pay?.outcome).toMatchObject(kept as object)
      const { agent } = payingAgent(log, {
        pay: { ...pay, execute: () => 'again' },
        isResumed: true,
      })
      await agent.resume('c').result
      const result = (await readState(log, 'c')).messages.findLast(isOf('pay'))
      const { error, modelOutput } = kept as { error?: unknown; modelOutput?: unknown }
      if (error) expect(result?.metadata.tool_result).toMatchObject({ error })
      else expect(result?.content).toMatchObject({ assetRef: expect.stringContaining('asset://') })
      if (modelOutput) expect(result?.metadata.tool_result).toMatchObject({ model_output: 'much' })
      await agent.close()
    }
  })

  it('shows the model the same as any other call when its turn comes', async () => {
    const log = createMemoryLog()
    const slow = Promise.withResolvers<string>()
    const big = 'x'.repeat(100_000)
    let shown = 0
    const pay = {
      execute: () => ({ big }),
      toModelOutput: () => `much, shown ${++shown} times`,
    }
    const { agent } = payingAgent(log, { slow: slow.promise, pay })
    await startedAndPaid(agent, log)
    slow.resolve('over')
    expect(await agent.resume('c').result).toMatchObject({ text: 'Done.' })
    const { messages } = await readState(log, 'c')
    const ids = messages.flatMap(resultOf).map(([id]) => id)
    expect(ids).toEqual(['slow', 'pay'])
    expect(messages.find(isOf('pay'))?.metadata.tool_result).toMatchObject({
      model_output: 'much, shown 1 times',
    })
    await agent.close()
  })

  it('keeps its labels', async () => {
    const log = createMemoryLog()
    const life = createLife()
    const pay = { returns: { confidentiality: 'private', readers: ['anna'] } } as const
    const trust = { mode: 'track' } as const
    await startedAndPaid(payingAgent(mortalLog(log, life), { pay, trust }).agent, log)
    life.end()
    const { agent } = payingAgent(log, { pay, trust, isResumed: true })
    await agent.resume('c').result
    const events = (await Array.fromAsync(readAll(log, 'c'))).map(({ event }) => event)
    const labels = events.flatMap((event) => {
      if (event.type === 'TOOL_FINISHED') return [event.label]
      const isPaid =
        event.type === 'NEW_MESSAGE' && event.payload.metadata.tool_result?.tool_call_id === 'pay'
      return isPaid ? [event.label] : []
    })
    expect(labels).toHaveLength(2)
    expect(labels[0]).toMatchObject({ readers: ['anna'] })
    expect(labels[1]).toEqual(labels[0])
    await agent.close()
  })
})
