import { expect, it } from 'vitest'
import { defineTool } from '../boundary/tool.ts'
import type { ConversationLog } from '../log/conversation-log.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { type ScriptedTurn, scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'

/** Records of a conversation in which a run has begun. */
const BEGUN = 2

/** A log that loses its last records right before an append, like one that is restored from a backup. */
function restoredLog(at: number, lost: number) {
  let current = createMemoryLog()
  let appends = 0
  const listening: (() => void)[] = []
  const log: ConversationLog = {
    ...current,
    read: (...args) => current.read(...args),
    find: (...args) => current.find(...args),
    list: (...args) => current.list(...args),
    renew: (...args) => current.renew(...args),
    subscribe(...args) {
      listening.push(() => void current.subscribe(...args))
      return current.subscribe(...args)
    },
    async append(...args) {
      if (++appends === at) {
        const restored = createMemoryLog()
        const records = await current.read('c')
        for (const { event } of records.slice(0, Math.max(BEGUN, records.length - lost)))
          await restored.append('c', [event])
        current = restored
        for (const listen of listening) listen()
      }
      return current.append(...args)
    },
  }
  return { log, appends: () => appends }
}

it.each([1, 2, 3])('a run goes on where the log has lost %i records', async (lost) => {
  let most = Infinity
  // There is nothing to lose before the second append.
  for (let at = 2; at < most; at++) {
    const { log, appends } = restoredLog(at, lost)
    const work = defineTool({
      id: 'work',
      description: 'Works',
      inputSchema: { type: 'object' },
      idempotent: true,
      execute: () => 'worked',
    })
    const turn: ScriptedTurn = ({ prompt }) => {
      const steps = prompt.filter(({ role }) => role === 'tool').length
      return steps < 3 ? { calls: [{ name: 'work', arguments: {} }] } : 'done'
    }
    const model = scriptedModel(Array.from({ length: 20 }, () => turn))
    const agent = createAgent({ model, tools: [work], log, leaseMs: 200 })
    const run = agent.run({ conversation: 'c', messages: [{ role: 'user', content: 'Go' }] })
    await run.result.catch(() => {})
    await expect.poll(async () => (await log.find('c'))?.status, { interval: 5 }).toBe('idle')
    const events = (await log.read('c')).map(({ event }) => event)
    const ends = events.filter(({ type }) => type === 'RUN_FINISHED' || type === 'RUN_ERROR')
    expect(ends, `at append ${at}`).toMatchObject([
      { type: 'RUN_FINISHED', result: { reason: 'done' } },
    ])
    const ids = events.flatMap((event) => (event.type === 'NEW_MESSAGE' ? event.payload.id : []))
    expect(ids).toEqual([...new Set(ids)])
    if (appends() < at) most = at
    await agent.close()
  }
  expect(most).toBeLessThan(40)
})
