import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { PgBoss } from 'pg-boss'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createAgent } from '../agent/agent.ts'
import type { Agent, AgentOptions } from '../agent/agent-contract.ts'
import { defineTool } from '../boundary/tool.ts'
import type { ConversationEvent, LogRecord } from '../core/events/events.ts'
import { toMessage } from '../core/messages/to-message.ts'
import { createPostgresLog } from '../log/postgres-log.ts'
import { newSchema } from '../postgres/fixtures/schemas.ts'
import { watchedPool } from '../postgres/fixtures/watched-pool.ts'
import { type ScriptedTurn, scriptedModel } from '../testing/scripted-model.ts'
import { createQueue } from './queue.ts'
import { createWorker, type WorkerOptions } from './worker.ts'

/** Functions that clean up after a test, the last one first. */
let ends: (() => Promise<unknown>)[] = []
let place: ReturnType<typeof newSchema>
let sql: pg.Pool

beforeEach(() => {
  place = newSchema()
  sql = watchedPool(place.connectionString, { max: 1 }).pool
  ends = [() => sql.end()]
})

afterEach(async () => {
  for (const end of ends.toReversed()) await end()
})

const queueSchema = (): string => `${place.schema}_queue`

/** The view of one host: a log, a queue and an agent of its own. */
function host(options: Partial<AgentOptions> = {}) {
  const queue = createQueue({ ...place, schema: queueSchema() })
  const log = createPostgresLog({ ...place, queue })
  const agent = createAgent({ model: scriptedModel([]), log, leaseMs: 10_000, ...options })
  ends.push(async () => {
    await agent.close()
    await log.close()
    await queue.close()
  })
  return { agent, log, queue }
}

/** A model that treats all conversations alike, by the number of their results. */
function answers(...turns: ScriptedTurn[]): ReturnType<typeof scriptedModel> {
  const model = scriptedModel([])
  return {
    ...model,
    doStream(options) {
      const results = options.prompt.filter(({ role }) => role === 'tool').length
      return scriptedModel([turns[results] ?? 'done']).doStream(options)
    },
  }
}

/** A worker on its own host, started. */
async function worker(
  options: Partial<AgentOptions> = {},
  more: Partial<WorkerOptions> = {},
): Promise<ReturnType<typeof createWorker>> {
  const { agent, queue } = host({ model: answers('done'), ...options })
  const made = createWorker({
    agent,
    queue,
    onError: (error) => process.stderr.write(`${error}\n`),
    ...more,
  })
  await made.start()
  ends.push(() => made.stop())
  return made
}

const say = (content = 'Hello') => [{ role: 'user', content }]

async function jobs(): Promise<number> {
  const { rows } = await sql.query(
    `SELECT count(*)::int AS count FROM "${queueSchema()}".job WHERE name LIKE 'advance%'`,
  )
  return rows[0].count
}

const isIdle = (agent: Agent, id: string) => async (): Promise<void> => {
  expect(await agent.log.find(id)).toMatchObject({ openRun: null, queued: 0 })
}

/** A tool that counts its calls and waits until it is released. */
function gate() {
  const { promise, resolve: open } = Promise.withResolvers<void>()
  const executions: string[] = []
  const signals: AbortSignal[] = []
  const tool = defineTool({
    id: 'work',
    description: 'Works',
    inputSchema: { type: 'object' },
    async execute(_, { conversation, signal }) {
      executions.push(conversation)
      signals.push(signal)
      await promise
      return 'worked'
    },
  })
  const call: ScriptedTurn = { calls: [{ name: 'work', arguments: {} }] }
  return { tool, executions, signals, open, model: answers(call, 'done') }
}

describe('a worker', () => {
  it('runs what a server accepted, and leaves nothing in the queue', async () => {
    const { agent } = host()
    const run = await agent.start({ conversation: 'c', messages: say() })
    expect(await jobs()).toBe(1)
    await worker()
    expect(await run.result).toMatchObject({ text: 'done', reason: 'done' })
    await expect.poll(jobs).toBe(0)
    expect(await agent.log.find('c')).toMatchObject({ lease: null })
  })

  it('is woken by later messages, and enqueues a conversation once', async () => {
    await worker()
    const { agent } = host()
    await Promise.all([1, 2, 3].map((n) => agent.send('c', say(`${n}`)[0] as never)))
    await vi.waitFor(isIdle(agent, 'c'), 30_000)
    const records = await agent.log.read('c')
    const given = records.flatMap(({ event }) =>
      event.type === 'RUN_STARTED' ? event.messageIds : [],
    )
    expect(given).toHaveLength(3)
  })

  it('streams to listeners in other processes', async () => {
    await worker({ model: answers('A long answer in many pieces') })
    const { agent } = host()
    const heard: [string, ConversationEvent][] = []
    agent.onStream((conversation, event) => heard.push([conversation, event]))
    const heardOf = (id: string) => heard.flatMap(([of, event]) => (of === id ? event : []))
    // A new listener may miss the first event.
    let n = 0
    await expect
      .poll(async () => {
        const run = await agent.start({ conversation: `c${++n}`, messages: say() })
        await run.result
        await sleep(100)
        return heardOf(`c${n}`).flatMap((event) => ('delta' in event ? event.delta : []))
      })
      .toEqual(['A long answer in many pieces'])
    expect(heardOf(`c${n}`).map(({ type }) => type)).toEqual([
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
    ])
  })

  it('continues the run of a worker that died', async () => {
    const { agent, queue, log } = host()
    const run = await agent.start({ conversation: 'c', messages: say() })
    const [job] = await queue.take({ agents: [null], limit: 1, without: [] })
    await queue.done(job ? [job] : [])
    await log.append('c', [], { lease: { owner: 'dead', ms: 300 } })
    await worker()
    expect(await run.result).toMatchObject({ text: 'done' })
  })

  it('fills the queue from the log if it was emptied', async () => {
    const { agent } = host()
    const runs = await Promise.all(
      Array.from({ length: 20 }, (_, i) => agent.start({ conversation: `c${i}`, messages: say() })),
    )
    const { rows } = await sql.query(
      `SELECT tablename FROM pg_tables WHERE schemaname = $1 AND tablename <> 'version'`,
      [queueSchema()],
    )
    const tables = rows.map(({ tablename }) => `"${queueSchema()}"."${tablename}"`)
    await sql.query(`TRUNCATE ${tables.join(', ')} CASCADE`)
    await worker()
    for (const run of runs) expect(await run.result).toMatchObject({ text: 'done' })
    // Conversations that are enqueued after that are present, too.
    const next = await agent.start({ conversation: 'next', messages: say() })
    expect(await next.result).toMatchObject({ text: 'done' })
  })

  it('runs each call once next to another worker', async () => {
    const { tool, executions, open, model } = gate()
    open()
    await Promise.all([1, 2].map(() => worker({ tools: [tool], model }, { concurrency: 8 })))
    const { agent } = host()
    const ids = Array.from({ length: 40 }, (_, i) => `c${i}`)
    const runs = await Promise.all(
      ids.map((conversation) => agent.start({ conversation, messages: say() })),
    )
    for (const run of runs) expect(await run.result).toMatchObject({ reason: 'done' })
    expect(executions.toSorted()).toEqual(ids.toSorted())
  })

  it('finishes a step when it is stopped, and leaves the rest to others', async () => {
    const { tool, executions, open, model } = gate()
    const first = await worker({ tools: [tool], model })
    const { agent } = host()
    const run = await agent.start({ conversation: 'c', messages: say() })
    await expect.poll(() => executions.length).toBe(1)
    const stopped = first.stop()
    open()
    await stopped
    expect(await agent.log.find('c')).toMatchObject({ status: 'running', lease: null })
    expect(await jobs()).toBe(1)
    await worker({ tools: [tool], model })
    expect(await run.result).toMatchObject({ text: 'done' })
    expect(executions).toHaveLength(1)
  })

  it('does not poll its queue and its log after it has stopped', async () => {
    const { queue, agent } = host({ model: answers('done') })
    const held = Promise.withResolvers<void>()
    const lists = vi.spyOn(agent.log, 'list')
    const done = vi.spyOn(queue, 'done').mockImplementationOnce(async () => held.promise)
    const made = createWorker({ agent, queue })
    await made.start()
    const run = await agent.start({ conversation: 'c', messages: say() })
    await run.result
    await expect.poll(() => done.mock.calls.length).toBe(1)
    lists.mockImplementationOnce(async () => {
      await held.promise
      return { conversations: [], next: null }
    })
    const before = lists.mock.calls.length
    await expect.poll(() => lists.mock.calls.length).toBeGreaterThan(before)

    let stopped = false
    const stopping = made.stop().then(() => {
      stopped = true
    })
    await jobs()
    expect(stopped).toBe(false)
    held.resolve()
    await stopping
  })

  it('aborts a step that takes longer than graceMs', async () => {
    const { tool, executions, signals, model } = gate()
    const first = await worker({ tools: [tool], model }, { graceMs: 10 })
    const { agent } = host()
    await agent.start({ conversation: 'c', messages: say() })
    await expect.poll(() => executions.length).toBe(1)
    await first.stop()
    expect(signals[0]?.aborted).toBe(true)
    expect(await jobs()).toBe(1)
  })

  it('leaves a conversation to others if it stops before it has the lease', async () => {
    const { agent, queue } = host({ model: answers('done') })
    // For example, an agent that is being closed.
    const advance = vi.fn(async () => ({ type: 'stopped' }) as const)
    const stopped = createWorker({ agent: { ...agent, advance }, queue })
    await stopped.start()
    const run = await agent.start({ conversation: 'c', messages: say() })
    await expect.poll(() => advance.mock.calls.length).toBe(1)
    await stopped.stop()
    expect(await jobs()).toBe(1)
    await worker()
    expect(await run.result).toMatchObject({ text: 'done' })
  })

  it('does not wait while a person is asked', async () => {
    const { tool, executions, open, model } = gate()
    open()
    const made = await worker({ tools: [{ ...tool, needsApproval: true }], model })
    const { agent } = host()
    const run = await agent.start({ conversation: 'c', messages: say() })
    await expect.poll(() => agent.log.find('c')).toMatchObject({ status: 'waiting', lease: null })
    await expect.poll(() => [made.active]).toEqual([0])
    await expect.poll(jobs).toBe(0)
    const asked = (await agent.log.read('c')).find(
      ({ event }) => event.type === 'APPROVAL_REQUESTED',
    )
    const { toolCallId } = (asked as LogRecord).event as { toolCallId: string }
    await agent.approve('c', toolCallId, { approved: true })
    expect(await run.result).toMatchObject({ text: 'done' })
    expect(executions).toEqual(['c'])
  })

  it('asks about the calls of a sub-agent, also after another worker has asked', async () => {
    const { tool, executions, open } = gate()
    open()
    const call = (name: string, args = {}) => ({ calls: [{ id: name, name, arguments: args }] })
    const model = answers(call('helper', { task: 'Work' }), 'done')
    const tools = () => {
      const [helped, tools] = [answers(call('work')), [{ ...tool, needsApproval: true }]]
      const helper = host({ model: helped, tools, name: 'helper' }).agent
      return [helper.asTool({ id: 'helper', description: '' })]
    }
    const first = await worker({ model, tools: tools() }, { graceMs: 0 })
    const { agent } = host()
    const run = await agent.start({ conversation: 'c', messages: say() })
    const asked: string[] = []
    for await (const event of run) {
      if (event.type !== 'APPROVAL_REQUESTED') continue
      asked.push(event.toolCallId)
      await first.stop()
      await worker({ model, tools: tools() })
      await agent.approve('c', event.toolCallId, { approved: true })
    }
    expect(await run.result).toMatchObject({ text: 'done' })
    expect([asked, executions]).toEqual([['helper/work'], ['c/helper']])
  })

  it('stops runs that are cancelled elsewhere', async () => {
    const { tool, signals, model } = gate()
    await worker({ tools: [tool], model })
    const { agent } = host()
    const run = await agent.start({ conversation: 'c', messages: say() })
    await expect.poll(() => signals.length).toBe(1)
    expect(await agent.cancel('c')).toBe(true)
    expect(await run.result).toMatchObject({ reason: 'cancelled' })
    await expect.poll(() => signals[0]?.aborted).toBe(true)
  })

  it('serves another namespace, however many jobs wait in one', async () => {
    const { tool, executions, open, model } = gate()
    const { agent } = host()
    const many = agent.scoped('many')
    for (let i = 0; i < 60; i++) await many.send(`m${i}`, say()[0] as never)
    await worker({ tools: [tool], model }, { concurrency: 8 })
    await expect.poll(() => executions.length).toBe(6)
    await agent.scoped('one').send('single', say()[0] as never)
    await expect.poll(() => executions).toContain('single')
    expect(executions).toHaveLength(7)
    open()
  })

  it('serves a namespace whose other jobs were taken and dropped', async () => {
    const { agent, queue } = host()
    const many = agent.scoped('many')
    for (let n = 0; n < 6; n++) await many.send(`dropped${n}`, say()[0] as never)
    expect(await queue.take({ agents: [null], limit: 6, without: [] })).toHaveLength(6)
    const { tool, executions, open, model } = gate()
    open()
    // Nothing is enqueued meanwhile.
    await queue.markWhole()
    vi.spyOn(PgBoss.prototype, 'supervise').mockResolvedValue(undefined as never)
    await worker({ tools: [tool], model }, { concurrency: 8 })
    await many.send('next', say()[0] as never)
    await expect.poll(() => executions).toEqual(['next'])
    vi.restoreAllMocks()
  })

  it('continues despite damaged conversations, which are set aside', async () => {
    const { agent } = host()
    const tenant = agent.scoped('tenant')
    for (let n = 0; n < 60; n++) await tenant.send(`damaged${n}`, say()[0] as never)
    await sql.query(`UPDATE "${place.schema}".records SET sum = 0`)
    const onError = vi.fn()
    await worker({}, { concurrency: 4, onError })
    const run = await tenant.start({ conversation: 'sound', messages: say() })
    expect(await run.result).toMatchObject({ text: 'done' })
    await expect.poll(jobs).toBe(0)
    const { conversations } = await tenant.log.list({ limit: 100 })
    const damaged = conversations.filter(({ damage }) => damage?.position === 1)
    expect(damaged).toHaveLength(60)
    expect((await tenant.log.list({ due: true })).conversations).toEqual([])
    expect(String(onError.mock.calls[0])).toContain(
      'is damaged at position 1: its checksum is wrong',
    )
  })

  it('takes only the jobs of its agents', async () => {
    const { agent } = host({ name: 'writer' })
    const run = await agent.start({ conversation: 'c', messages: say() })
    await worker({ name: 'reader', model: answers('read') })
    await worker({ name: 'writer', model: answers('written') })
    expect(await run.result).toMatchObject({ text: 'written' })
  })

  it('continues what was abandoned before a hundred conversations that nobody can continue', async () => {
    await worker()
    const { agent, log } = host()
    const payload = toMessage({ content: 'Hello' })
    const waiting = { type: 'NEW_MESSAGE', payload, deliver: 'next_run' } as const
    await log.append('c', [waiting], { lease: { owner: 'dead', ms: 3000 } })
    for (let i = 0; i < 100; i++) {
      const lease = { owner: 'dead', ms: 1 }
      await log.append(`${i}`, [{ ...waiting, agent: 'gone' }], { lease })
    }
    await vi.waitFor(isIdle(agent, 'c'), 30_000)
  })

  it('keeps records of a later version', async () => {
    const { agent } = host()
    await agent.start({ conversation: 'c', messages: say() })
    const lines: string[] = []
    for await (const line of agent.log.export('c')) lines.push(line)
    const event = { type: 'OF_A_LATER_VERSION', what: { it: 'knows' } }
    const record = { v: 1, position: lines.length - 1, timestamp: new Date().toISOString(), event }
    await agent.log.delete('c')
    await agent.log.import(lines.toSpliced(-1, 0, `${JSON.stringify(record)}\n`))
    await worker()
    expect(await agent.resume('c').result).toMatchObject({ text: 'done' })
    const events = (await agent.log.read('c')).map((one) => one.event)
    expect(events).toContainEqual(event)
  })

  it('requires a log that has its queue', () => {
    const { agent } = host()
    const { queue } = host()
    expect(() => createWorker({ agent, queue })).toThrow(/needs the queue of its agents/)
  })

  it('reports failures, and continues when the log works again', async () => {
    const onError = vi.fn()
    await worker({}, { onError })
    const { agent } = host()
    await sql.query(`ALTER SCHEMA "${queueSchema()}" RENAME TO "${queueSchema()}_away"`)
    await expect.poll(() => onError.mock.calls.length).toBeGreaterThan(0)
    await sql.query(`ALTER SCHEMA "${queueSchema()}_away" RENAME TO "${queueSchema()}"`)
    const run = await agent.start({ conversation: 'c', messages: say() })
    expect(await run.result).toMatchObject({ text: 'done' })
  })

  it('continues its run after the log was away for some seconds, before its lease expires', async () => {
    const { tool, open, model, executions } = gate()
    const onError = vi.fn()
    await worker({ model, tools: [tool], leaseMs: 3_600_000 }, { onError })
    const { agent } = host({ tools: [tool] })
    await agent.start({ conversation: 'c', messages: say() })
    await expect.poll(() => executions).toEqual(['c'])
    await sql.query(`ALTER SCHEMA "${place.schema}" RENAME TO "${place.schema}_away"`)
    open()
    await sleep(4000)
    await sql.query(`ALTER SCHEMA "${place.schema}_away" RENAME TO "${place.schema}"`)
    await vi.waitFor(isIdle(agent, 'c'), 30_000)
    expect(onError).toHaveBeenCalledWith(expect.objectContaining({ code: 'log_failed' }))
    expect(executions).toEqual(['c'])
  })
})
