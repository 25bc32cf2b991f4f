import { describe, expect, it, vi } from 'vitest'
import { scriptedModel } from '../testing/scripted-model.ts'
import type { Agent } from './agent-contract.ts'

const inputSchema = { type: 'object', properties: {} } as const

/** Loads a copy of byref, like the bundle of a route or of instrumentation.ts in Next.js. */
async function copy() {
  vi.resetModules()
  const { createAgent } = await import('./agent.ts')
  const { defineTool } = await import('../boundary/tool.ts')
  const { LeaseHeldError, LogConflictError } = await import('../log/conversation-log.ts')
  const { DamagedError } = await import('../core/errors.ts')
  return { createAgent, defineTool, LeaseHeldError, LogConflictError, DamagedError }
}

const calling = (name: string) => ({ calls: [{ id: 'c', name, arguments: {} }] })

const eventsOf = async ({ log }: Agent) => (await log.read('c')).map(({ event }) => event)

describe('two copies of byref in one process', () => {
  it('recognize each other’s tools without execute', async () => {
    const [route, shared] = [await copy(), await copy()]
    const place = route.defineTool({ id: 'place', description: '', inputSchema })
    const model = scriptedModel([calling('place'), 'Oslo.'])
    const agent = shared.createAgent({ model, tools: [place] })
    const run = await agent.start({ conversation: 'c', messages: 'Where?' })
    const requested = expect.objectContaining({ type: 'APPROVAL_REQUESTED', needsResult: true })
    await expect.poll(() => eventsOf(agent)).toContainEqual(requested)
    await expect(agent.approve('c', 'c', { approved: true })).rejects.toThrow(/needs its result/)
    await agent.approve('c', 'c', { approved: true, result: 'Oslo' })
    expect((await run.result).text).toBe('Oslo.')
  })

  it('recognize each other’s errors of logs', async () => {
    const [route, shared] = [await copy(), await copy()]
    const damage = { position: 1, reason: 'it is gone' }
    const errors = [
      new route.LogConflictError('c', []),
      new route.LeaseHeldError('c', { owner: 'a', expiresIn: 1 }),
      new route.DamagedError('c', damage),
    ]
    const classes = [shared.LogConflictError, shared.LeaseHeldError, shared.DamagedError]
    expect(errors.map((error) => classes.map((one) => error instanceof one))).toEqual([
      [true, false, false],
      [false, true, false],
      [false, false, true],
    ])
  })

  it('work for each other as sub-agents', async () => {
    const [route, shared] = [await copy(), await copy()]
    const pay = shared.defineTool({
      id: 'pay',
      description: '',
      inputSchema,
      needsApproval: true,
      execute: () => 'paid',
    })
    const helper = shared.createAgent({
      model: scriptedModel([calling('pay'), 'It is paid.']),
      tools: [pay],
    })
    const asking = { calls: [{ id: 'h', name: 'helper', arguments: { task: 'Pay' } }] }
    const agent = route.createAgent({
      model: scriptedModel([asking, 'Done.']),
      tools: [helper.asTool({ id: 'helper', description: '' })],
    })
    const run = await agent.start({ conversation: 'c', messages: 'Pay' })
    const requested = expect.objectContaining({ type: 'APPROVAL_REQUESTED', toolCallId: 'h/c' })
    await expect.poll(() => eventsOf(agent)).toContainEqual(requested)
    await agent.approve('c', 'h/c', { approved: true })
    expect((await run.result).text).toBe('Done.')
  })
})
