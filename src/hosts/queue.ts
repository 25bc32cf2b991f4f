import { randomUUID } from 'node:crypto'
import type { PgBoss } from 'pg-boss'
import { checkOptions } from '../core/check-options.ts'
import type { ConversationQueue, DueConversation } from '../log/conversation-log.ts'
import { optionalPeer } from '../optional-peer.ts'
import { type Database, openDatabase } from '../postgres/database.ts'
import { databaseError } from '../postgres/postgres-errors.ts'
import { POSTGRES_OPTIONS, type PostgresOptions, poolOf } from '../postgres/postgres-options.ts'

/** Options of {@link createQueue}: the log's database, and the schema of the queue's tables, default `byref_queue`. */
export type HostQueueOptions = PostgresOptions

/** A conversation that this process has taken from the queue. */
export interface TakenJob extends DueConversation {
  readonly queue: string
  readonly id: string
}

/** How many to take, and for whom. */
export interface TakeOptions {
  /** The names of agents; null for those without a name. */
  agents: readonly (string | null)[]
  /** All of them may be of one namespace. */
  limit: number
  /** Namespaces of which none are taken. */
  without: readonly string[]
}

/** A queue of conversations in PostgreSQL, kept by pg-boss. It may be emptied at any time: the log knows what is due. */
export interface HostQueue extends ConversationQueue {
  /** Looks after its tables from now on: returns what nobody has done, sweeps. Each worker does so, in turn. */
  supervise(): Promise<void>
  /** Enqueues many, each once. */
  add(due: readonly DueConversation[]): Promise<void>
  /** Takes some, in the order in which they came. Those that are not {@link done} within five seconds come back. */
  take(options: TakeOptions): Promise<TakenJob[]>
  /** They are in somebody's hands, or nothing is due in them. */
  done(jobs: readonly TakenJob[]): Promise<void>
  /** Whether nobody has emptied it since `markWhole`. */
  isWhole(): Promise<boolean>
  markWhole(): Promise<void>
  /** Calls `listener` when something was enqueued, by whomever. Returns the function that ends it. */
  onDue(listener: () => void): () => void
  close(): Promise<void>
}

const DEFAULT_SCHEMA = 'byref_queue'

/** A job that was taken and is not done after this time is given to another: its worker died before it had the lease. */
const EXPIRES_SECONDS = 5

/** A job that nobody takes: while it is there, nobody has emptied the tables. */
const WHOLE = { queue: 'whole', at: new Date('2100-01-01T00:00:00Z') }

const WORDS = { what: 'queue', failed: 'log_failed' } as const

/** How often its tables are looked after, in milliseconds. */
const SUPERVISE_MS = 2000

/** Opens a queue; its tables are made at its first use. */
export function createQueue(options: HostQueueOptions): HostQueue {
  checkOptions('createQueue', options, POSTGRES_OPTIONS)
  const schema = options.schema ?? DEFAULT_SCHEMA
  const channel = `${schema}_due`.slice(-63)
  const { pool, isOwn } = poolOf(options)
  const database = openDatabase({ pool, schema }, { owner: WORDS, migrate: async () => {} })
  const known = new Map<string, Promise<void>>()
  const listeners = new Set<() => void>()
  let opening: Promise<PgBoss> | null = null
  let supervising: NodeJS.Timeout | undefined
  let closed = false
  let listening: ReturnType<Database['listen']> | null = null

  async function start(): Promise<PgBoss> {
    const { PgBoss } = await optionalPeer('pg-boss', 'A queue')
    const executeSql = (text: string, values?: unknown[]) => pool.query(text, values)
    const boss = new PgBoss({
      ...{ db: { executeSql }, schema, schedule: false, supervise: false },
      ...{ monitorIntervalSeconds: SUPERVISE_MS / 1000, maintenanceIntervalSeconds: 60 },
    })
    // Each use says for itself what failed.
    boss.on('error', () => {})
    await boss.start()
    return boss
  }

  function open(): Promise<PgBoss> {
    opening ??= start().catch((error) => {
      opening = null
      throw error
    })
    return opening
  }

  /** The queue of an agent, made where it is not there. */
  async function queueOf(agent: string | null): Promise<{ boss: PgBoss; queue: string }> {
    const boss = await open()
    const queue = agent === null ? 'advance' : `advance/${agent}`
    await ensure(boss, queue)
    return { boss, queue }
  }

  function ensure(boss: PgBoss, queue: string): Promise<void> {
    const made =
      known.get(queue) ??
      boss.createQueue(queue, {
        // One that waits, however often it is asked for; that one process advances it is the log's to see to.
        ...{ policy: 'short', expireInSeconds: EXPIRES_SECONDS, retryLimit: 1000, retryDelay: 0 },
        ...{ deleteAfterSeconds: 60 },
      })
    known.set(queue, made)
    made.catch(() => known.delete(queue))
    return made
  }

  function tell(): void {
    for (const listener of listeners) listener()
  }

  /** Says what failed as the log does. */
  async function saying<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run()
    } catch (error) {
      throw databaseError(error, WORDS)
    }
  }

  return {
    supervise: () =>
      saying(async () => {
        const { boss } = await queueOf(null)
        // By a timer of our own, since it may have been open for others. What fails is tried again.
        supervising ??= setInterval(() => {
          if (!closed) boss.supervise().catch(() => {})
        }, SUPERVISE_MS).unref()
      }),
    enqueue: (query, due) =>
      saying(async () => {
        const { boss, queue } = await queueOf(due.agent)
        const { data, ...options } = jobOf(due)
        // Locked until the append is there: whoever takes it reads the log after that.
        const waiting = await query(waitingIn(schema), [queue, options.singletonKey])
        if (waiting.rows.length > 0) return
        const db = { executeSql: (text: string, values: unknown[] = []) => query(text, values) }
        const send = () => boss.send(queue, data, { ...options, db })
        if ((await send()) === null) {
          // Somebody has emptied the tables.
          known.delete(queue)
          await ensure(boss, queue)
          await send()
        }
        await query('SELECT pg_notify($1, $2)', [channel, ''])
      }),
    add: (due) =>
      saying(async () => {
        for (const [agent, some] of byAgent(due)) {
          const { boss, queue } = await queueOf(agent)
          await boss.insert(queue, some.map(jobOf), { returnId: false })
        }
        if (due.length > 0) await pool.query('SELECT pg_notify($1, $2)', [channel, ''])
      }),
    take: ({ agents, limit, without }) =>
      saying(async () => {
        const taken: TakenJob[] = []
        for (const agent of agents) {
          const batchSize = limit - taken.length
          if (batchSize <= 0) break
          try {
            const { boss, queue } = await queueOf(agent)
            const ignoreGroups = without.length > 0 ? without.map(groupOf) : null
            const jobs = await boss.fetch<JobData>(queue, { batchSize, ignoreGroups })
            taken.push(...jobs.map(({ id, data }) => ({ ...readJob(data), queue, id })))
          } catch (error) {
            // What has been taken is taken; who takes again meets the error again.
            if (taken.length === 0) throw error
            break
          }
        }
        return taken
      }),
    done: (jobs) =>
      saying(async () => {
        const boss = await open()
        for (const [queue, some] of Map.groupBy(jobs, (job) => job.queue)) {
          await boss.deleteJob(
            queue,
            some.map(({ id }) => id),
          )
        }
      }),
    isWhole: () =>
      saying(async () => {
        const boss = await open()
        const queue = await boss.getQueue('advance')
        if (!queue) return false
        const marks = await boss.findJobs(WHOLE.queue).catch(() => [])
        return marks.length > 0
      }),
    markWhole: () =>
      saying(async () => {
        const boss = await open()
        known.clear()
        await ensure(boss, WHOLE.queue)
        await boss.send(WHOLE.queue, {}, { startAfter: WHOLE.at, singletonKey: WHOLE.queue })
      }),
    onDue(listener) {
      listening ??= database.listen({
        channels: [channel],
        onNotification: tell,
        onListening: tell,
      })
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
    async close() {
      if (closed) return
      closed = true
      clearInterval(supervising)
      listeners.clear()
      await listening?.end()
      const boss = await opening?.catch(() => null)
      await boss?.stop({ graceful: false })
      await database.close()
      if (isOwn) await pool.end()
    },
  }
}

interface JobData {
  /** JSON in JSON: PostgreSQL's own has no place for every text that an id may be. */
  due: string
}

function jobOf({ conversation, namespace, agent }: DueConversation) {
  const data: JobData = { due: JSON.stringify({ conversation, namespace, agent }) }
  const singletonKey = JSON.stringify([namespace, conversation])
  return { id: timedUuid(), data, singletonKey, group: { id: groupOf(namespace ?? '') } }
}

/** A UUID that begins with the time (RFC 9562, version 7). */
function timedUuid(): string {
  const time = Date.now().toString(16).padStart(12, '0')
  const random = randomUUID()
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15)}`
}

function readJob({ due }: JobData): DueConversation {
  return JSON.parse(due) as DueConversation
}

/** Conversations of no namespace are a group too. */
function groupOf(namespace: string): string {
  return JSON.stringify(namespace)
}

/** Locks the job of a conversation that waits; its conditions are those of an index of pg-boss. */
function waitingIn(schema: string): string {
  return `SELECT id FROM "${schema}".job WHERE name = $1 AND COALESCE(singleton_key, '') = $2
    AND state = 'created' AND policy = 'short' FOR UPDATE`
}

function byAgent(due: readonly DueConversation[]): Map<string | null, DueConversation[]> {
  return Map.groupBy(due, ({ agent }) => agent)
}
