import assert from 'node:assert/strict'
import type { ConversationEvent } from '../../core/events/events.ts'
import type { ConversationLog } from '../../log/conversation-log.ts'
import type { Check } from './check.ts'
import { later, summary } from './check.ts'
import {
  answered,
  asked,
  chat,
  message,
  queued,
  runError,
  runFinished,
  runStarted,
} from './events.ts'

/** How the summary reflects the events. */
export function testSummaries(check: Check): void {
  check('sums up a conversation without events', async (log) => {
    await log.create('c')
    const { createdAt, updatedAt, ...rest } = await summary(log, 'c')
    assert.deepEqual(rest, {
      id: 'c',
      namespace: null,
      title: null,
      messages: 0,
      position: 0,
      status: 'idle',
      openRun: null,
      queued: 0,
      agent: null,
      branch: null,
      lease: null,
      damage: null,
    })
    assert.equal(new Date(createdAt).toISOString(), createdAt)
    assert.equal(updatedAt, createdAt)
    assert.equal(await log.find('nowhere'), null)
  })

  check('says when a conversation was made and changed last', async (log) => {
    await log.append('c', [chat('x')])
    const before = await summary(log, 'c')
    await later()
    const [record] = await log.append('c', [chat('y')])
    const { createdAt, updatedAt } = await summary(log, 'c')
    assert.equal(createdAt, before.createdAt)
    assert.ok(updatedAt > before.updatedAt)
    assert.equal(updatedAt, record?.timestamp)
  })

  check('counts messages of every type, and knows the position', async (log) => {
    await log.append('c', [chat('x'), runStarted(), chat('y', { message_type: 'log' })])
    const { messages, position } = await summary(log, 'c')
    assert.deepEqual({ messages, position }, { messages: 2, position: 3 })
  })

  check('calls a conversation by its first chat message', async (log) => {
    const titled = async (id: string, ...events: ConversationEvent[]): Promise<string | null> => {
      await log.append(id, events)
      return (await summary(log, id)).title
    }
    assert.equal(
      await titled('a', runStarted(), chat(' first line \nsecond'), chat('no')),
      'first line',
    )
    assert.equal(await titled('b', chat('x'.repeat(81))), `${'x'.repeat(79)}…`)
    assert.equal(await titled('c', chat('note', { message_type: 'note' }), chat('  ')), null)
    assert.equal(await titled('c', chat('then this')), 'then this')
    const content = [{ type: 'image_url' }, { type: 'text', text: 'a part' }]
    assert.equal(
      await titled('d', chat('m', { content, content_type: 'multipart/mixed' })),
      'a part',
    )
    assert.equal(
      await titled('e', chat('m', { content: 'asset://x', content_type: 'asset_ref' })),
      null,
    )
  })

  check('knows whose conversation it is: of who ran last, or is waited for', async (log) => {
    const agent = after(log, (found) => found.agent)
    assert.equal(await agent(chat('x'), runStarted('r1')), null)
    assert.equal(await agent(by('one', runStarted('r2')), chat('y')), 'one')
    assert.equal(await agent(runFinished('r2'), by('two', queued('z'))), 'two')
    assert.equal(await agent(queued('for the same')), 'two')
    assert.equal(await agent(by('one', runStarted('r3'))), 'one')
  })

  check('knows the run that is open', async (log) => {
    const open = after(log, ({ openRun }) => openRun)
    assert.equal(await open(runStarted('r1')), 'r1')
    assert.equal(await open(chat('meanwhile')), 'r1')
    assert.equal(await open(runFinished('another')), 'r1')
    assert.equal(await open(runFinished('r1')), null)
    assert.equal(await open(runStarted('r2'), runError('r2'), runStarted('r3')), 'r3')
  })

  check('says how a conversation stands', async (log) => {
    const status = after(log, (found) => found.status)
    assert.equal(await status(chat('x')), 'idle')
    assert.equal(await status(runStarted()), 'running')
    assert.equal(await status(asked('k1'), asked('k2')), 'waiting')
    assert.equal(await status(answered('k1')), 'waiting')
    const metadata = { tool_result: { tool_call_id: 'k2' } }
    assert.equal(await status(chat('result', { message_type: 'log', metadata })), 'running')
    assert.equal(await status(asked('k3'), runError()), 'failed')
    assert.equal(await status(chat('hm')), 'failed')
    assert.equal(await status(runStarted('r2')), 'running')
    assert.equal(await status(runFinished('r2')), 'idle')
  })

  check('counts the messages that wait for a run or a step', async (log) => {
    const waiting = after(log, (found) => found.queued)
    const step = { type: 'STEP_STARTED', stepName: 's', runId: 'r', messageId: 'a' } as const
    assert.equal(await waiting(chat('x'), queued('m1'), queued('m2'), queued('m3')), 3)
    assert.equal(await waiting(runStarted('r', ['x', 'm2', 'other'])), 2)
    assert.equal(await waiting(step), 2)
    assert.equal(await waiting({ ...step, messageIds: ['m1', 'm1', 'm2'] }), 1)
    assert.equal(await waiting(runFinished()), 1)
    assert.equal(await waiting(queued('m4'), runStarted('r2', ['m3', 'm4'])), 0)
  })

  check('takes messages whose metadata holds anything', async (log) => {
    const odd: Record<string, unknown>[] = [
      {},
      { tool_result: null },
      { tool_result: 'text' },
      { tool_result: { tool_call_id: 1 } },
    ]
    for (const metadata of odd) {
      const payload = { ...message('m', ''), metadata }
      await log.append('c', [{ type: 'NEW_MESSAGE', payload, deliver: 'next_run' }])
    }
    assert.equal((await summary(log, 'c')).messages, 4)
  })
}

/** Appends events, and returns one field of the summary, which lists must contain, too. */
function after<T>(
  log: ConversationLog,
  pick: (found: Awaited<ReturnType<typeof summary>>) => T,
): (...events: ConversationEvent[]) => Promise<T> {
  return async (...events) => {
    await log.append('c', events)
    const found = pick(await summary(log, 'c'))
    const [listed] = (await log.list()).conversations
    assert.deepEqual(listed && pick(listed), found)
    return found
  }
}

/** Returns the event with the name of its agent. */
function by(agent: string, event: ConversationEvent): ConversationEvent {
  return { ...event, agent } as ConversationEvent
}
