import pg from 'pg'
import { describe, expect, it } from 'vitest'
import type { ConversationEvent } from '../core/events/events.ts'
import { toMessage } from '../core/messages/to-message.ts'
import { newSchema } from '../postgres/fixtures/schemas.ts'
import type { ConversationQueue } from './conversation-log.ts'
import { createPostgresLog } from './postgres-log.ts'

const chat = (id: string, deliver?: 'next_run'): ConversationEvent => {
  const payload = toMessage({ id, content: id })
  return { type: 'NEW_MESSAGE', payload, ...(deliver && { deliver, agent: 'helper' }) }
}
const started: ConversationEvent = {
  type: 'RUN_STARTED',
  threadId: 'c',
  runId: 'r',
  messageIds: ['q'],
  owner: 'o',
  agent: 'helper',
}
const asked: ConversationEvent = {
  type: 'APPROVAL_REQUESTED',
  toolCallId: 't',
  runId: 'r',
  toolName: 't',
  arguments: {},
}
const answered: ConversationEvent = {
  type: 'APPROVAL_ANSWERED',
  toolCallId: 't',
  runId: 'r',
  approved: true,
}
const lease = (ms: number) => ({ lease: { owner: 'o', ms } })

/** A log with a table as its queue. */
async function open() {
  const { connectionString, schema } = newSchema()
  const admin = new pg.Client({ connectionString })
  await admin.connect()
  await admin.query(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.jobs (n serial, job text)`)
  let failure: Error | null = null
  const queue: ConversationQueue = {
    async enqueue(query, job) {
      await query(`INSERT INTO ${schema}.jobs (job) VALUES ($1)`, [JSON.stringify(job)])
      if (failure) throw failure
    },
  }
  const log = createPostgresLog({ connectionString, schema, queue })
  return {
    log,
    /** The conversations that were enqueued since the last call. */
    async jobs(): Promise<unknown[]> {
      const { rows } = await admin.query(
        `WITH gone AS (DELETE FROM ${schema}.jobs RETURNING n, job) SELECT job FROM gone ORDER BY n`,
      )
      return rows.map(({ job }) => JSON.parse(job))
    },
    failNext(error: Error | null) {
      failure = error
    },
    async close() {
      await log.close()
      await admin.end()
    },
  }
}

const job = { conversation: 'c', namespace: null, agent: 'helper' }

describe('createPostgresLog with a queue', () => {
  it('enqueues conversations that are due and have no runner', async () => {
    const { log, jobs, close } = await open()
    await log.append('c', [chat('hello')])
    expect(await jobs()).toEqual([])
    await log.append('c', [chat('q', 'next_run')])
    expect(await jobs()).toEqual([job])
    await log.append('c', [started], lease(60_000))
    await log.append('c', [chat('q2', 'next_run')])
    expect(await jobs()).toEqual([])
    await log.renew('c', { owner: 'o', ms: 60_000 })
    await log.renew('c', { owner: 'p', ms: 0 })
    expect(await jobs()).toEqual([])
    await log.renew('c', { owner: 'o', ms: 0 })
    expect(await jobs()).toEqual([job])
    await log.append('c', [chat('x')], lease(60_000))
    await log.append('c', [chat('y')], lease(0))
    expect(await jobs()).toEqual([job])
    await log.scoped('n').append('c', [chat('q', 'next_run')])
    expect(await jobs()).toEqual([{ ...job, namespace: 'n' }])
    await close()
  })

  it('enqueues answered approvals, and not pending ones', async () => {
    const { log, jobs, close } = await open()
    await log.append('c', [started, asked], lease(60_000))
    await log.renew('c', { owner: 'o', ms: 0 })
    await log.append('c', [chat('x')], lease(0))
    expect(await jobs()).toEqual([])
    await log.append('c', [answered])
    expect(await jobs()).toEqual([job])
    await close()
  })

  it('enqueues what was left behind with the next message, and on request', async () => {
    const { log, jobs, close } = await open()
    await log.append('c', [started], lease(1))
    await expect.poll(async () => (await log.find('c'))?.lease?.expiresIn).toBeLessThanOrEqual(0)
    await log.append('c', [chat('x')])
    expect(await jobs()).toEqual([job])
    await log.enqueue?.('c')
    expect(await jobs()).toEqual([job])
    await expect(log.enqueue?.('none')).rejects.toMatchObject({ code: 'conversation_not_found' })
    expect(log.scoped('n').queue).toBe(log.queue)
    await close()
  })

  it('appends nothing if the queue fails', async () => {
    const { log, jobs, failNext, close } = await open()
    const told: unknown[] = []
    log.subscribe((change) => told.push(change))
    failNext(new Error('the queue is broken'))
    await expect(log.append('c', [chat('q', 'next_run')])).rejects.toThrow('the queue is broken')
    failNext(null)
    expect([await log.find('c'), await jobs(), told]).toEqual([null, [], []])
    await log.append('c', [chat('q', 'next_run')], { after: 0 })
    expect(await jobs()).toEqual([job])
    await close()
  })
})
