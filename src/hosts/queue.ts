import { randomUUID } from 'node:crypto'
import type { PgBoss } from 'pg-boss'
import { isAgentName } from '../agent/agent-options.ts'
import { checkOptions } from '../core/check-options.ts'
import type {
  ConversationQueue,
  DueConversation,
  TransactionQuery,
} from '../log/conversation-log.ts'
import { optionalPeer } from '../optional-peer.ts'
import { Listening } from '../postgres/listening.ts'
import { databaseError } from '../postgres/postgres-errors.ts'
import {
  type LazyPool,
  POSTGRES_OPTIONS,
  type PostgresOptions,
  poolOf,
  schemaOf,
} from '../postgres/postgres-options.ts'

/**
 * Options of {@link createQueue}: the log's database, and the schema of the queue's tables (default
 * `byref_queue`).
 */
export type HostQueueOptions = PostgresOptions

/** A conversation that this process took from the queue. */
export interface TakenJob extends DueConversation {
  readonly queue: string
  readonly id: string
}

/** Selects the conversations to take. */
export interface TakeOptions {
  /** The names of agents; null for agents without a name. */
  agents: readonly (string | null)[]
  /** Maximum number, over all namespaces. */
  limit: number
  /** Namespaces to skip. */
  without: readonly string[]
}

/**
 * A queue of conversations in PostgreSQL, based on pg-boss. Its tables may be emptied at any time, because the
 * log knows what is due.
 */
export interface HostQueue extends ConversationQueue {
  /**
   * Starts the maintenance of the tables, which returns unfinished jobs and deletes old rows. Each worker
   * calls it.
   */
  supervise(): Promise<void>
  /** Enqueues many conversations, each once. */
  add(due: readonly DueConversation[]): Promise<void>
  /**
   * Takes conversations in order of arrival. A job that is not {@link done} within five seconds returns to the
   * queue.
   */
  take(options: TakeOptions): Promise<TakenJob[]>
  /** Removes jobs, because a runner has the conversation or nothing is due in it. */
  done(jobs: readonly TakenJob[]): Promise<void>
  /** Returns whether the queue has not been emptied since `markWhole`. */
  isWhole(): Promise<boolean>
  markWhole(): Promise<void>
  /** Calls `listener` when any process enqueues something. Returns the function that removes the listener. */
  onDue(listener: () => void): () => void
  close(): Promise<void>
}

const DEFAULT_SCHEMA = 'byref_queue'

/** Time after which an unfinished job is given to another worker, because the first one probably died. */
const EXPIRES_SECONDS = 5

/** A job that no worker takes. If it is missing, someone has emptied the tables. */
const WHOLE = { queue: 'whole', at: new Date('2100-01-01T00:00:00Z') }

const OWNER = { what: 'queue', failed: 'log_failed' } as const

/** Time between two maintenance runs, in milliseconds. */
const SUPERVISE_MS = 2000

/** Opens a queue. The first use creates its tables. */
export function createQueue(options: HostQueueOptions): HostQueue {
  checkOptions('createQueue', options, POSTGRES_OPTIONS)
  return new BossQueue(options)
}

class BossQueue implements HostQueue {
  readonly #channel: string
  readonly #pool: LazyPool
  readonly #schema: string
  /** The queues of pg-boss that exist. */
  readonly #queues = new Map<string, Promise<void>>()
  readonly #listeners = new Set<() => void>()
  #opening: Promise<PgBoss> | null = null
  #supervising: NodeJS.Timeout | undefined
  #listening: Listening | null = null
  #closed = false

  constructor(options: HostQueueOptions) {
    const { schema = DEFAULT_SCHEMA } = options
    this.#schema = schemaOf({ schema })
    this.#channel = `${this.#schema}_due`.slice(-63)
    this.#pool = poolOf(options)
  }

  supervise(): Promise<void> {
    return withErrors(async () => {
      const { boss } = await this.#queueOf(null)
      // pg-boss may have been opened without its timer, so the queue has its own. The next run retries what
      // failed.
      this.#supervising ??= setInterval(() => {
        if (!this.#closed) boss.supervise().catch(() => {})
      }, SUPERVISE_MS).unref()
    })
  }

  enqueue(query: TransactionQuery, due: DueConversation): Promise<void> {
    return withErrors(async () => {
      if (!isServable(due.agent)) return
      const { boss, queue } = await this.#queueOf(due.agent)
      const { data, ...options } = jobOf(due)
      // The lock lasts until the append is committed, so the worker that takes the job reads the new records.
      const waiting = await query(lockJob(this.#schema), [queue, options.singletonKey])
      if (waiting.rows.length > 0) return
      const db = { executeSql: (text: string, values: unknown[] = []) => query(text, values) }
      const send = () => boss.send(queue, data, { ...options, db })
      if ((await send()) === null) {
        // The job was not added, because someone emptied the tables.
        this.#queues.delete(queue)
        await this.#ensure(boss, queue)
        await send()
      }
      await query('SELECT pg_notify($1, $2)', [this.#channel, ''])
    })
  }

  add(due: readonly DueConversation[]): Promise<void> {
    return withErrors(async () => {
      for (const [agent, some] of Map.groupBy(due, (one) => one.agent)) {
        if (!isServable(agent)) continue
        const { boss, queue } = await this.#queueOf(agent)
        await boss.insert(queue, some.map(jobOf), { returnId: false })
      }
      if (due.length === 0) return
      const pool = await this.#pool.open()
      await pool.query('SELECT pg_notify($1, $2)', [this.#channel, ''])
    })
  }

  take({ agents, limit, without }: TakeOptions): Promise<TakenJob[]> {
    return withErrors(async () => {
      const taken: TakenJob[] = []
      const ignoreGroups = without.length > 0 ? without.map(groupOf) : null
      for (const agent of agents) {
        const batchSize = limit - taken.length
        if (batchSize <= 0) break
        try {
          const { boss, queue } = await this.#queueOf(agent)
          const jobs = await boss.fetch<JobData>(queue, { batchSize, ignoreGroups })
          for (const { id, data } of jobs) {
            taken.push({ ...(JSON.parse(data.due) as DueConversation), queue, id })
          }
        } catch (error) {
          // Return the jobs that were taken. The next call will see the error again.
          if (taken.length === 0) throw error
          break
        }
      }
      return taken
    })
  }

  done(jobs: readonly TakenJob[]): Promise<void> {
    return withErrors(async () => {
      const boss = await this.#open()
      for (const [queue, some] of Map.groupBy(jobs, (job) => job.queue)) {
        const ids = some.map(({ id }) => id)
        await boss.deleteJob(queue, ids)
      }
    })
  }

  isWhole(): Promise<boolean> {
    return withErrors(async () => {
      const boss = await this.#open()
      if (!(await boss.getQueue('advance'))) return false
      const marks = await boss.findJobs(WHOLE.queue).catch(() => [])
      return marks.length > 0
    })
  }

  markWhole(): Promise<void> {
    return withErrors(async () => {
      const boss = await this.#open()
      this.#queues.clear()
      await this.#ensure(boss, WHOLE.queue)
      await boss.send(WHOLE.queue, {}, { startAfter: WHOLE.at, singletonKey: WHOLE.queue })
    })
  }

  onDue(listener: () => void): () => void {
    const notify = () => {
      for (const one of this.#listeners) one()
    }
    this.#listening ??= new Listening(this.#pool, {
      channels: [this.#channel],
      onNotification: notify,
      onListening: notify,
    })
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    clearInterval(this.#supervising)
    this.#listeners.clear()
    await this.#listening?.end()
    const boss = await this.#opening?.catch(() => null)
    await boss?.stop({ graceful: false })
    await this.#pool.close()
  }

  async #start(): Promise<PgBoss> {
    const { PgBoss } = await optionalPeer('pg-boss', 'A queue')
    const pool = await this.#pool.open()
    const boss = new PgBoss({
      db: { executeSql: (text: string, values?: unknown[]) => pool.query(text, values) },
      schema: this.#schema,
      schedule: false,
      supervise: false,
      monitorIntervalSeconds: SUPERVISE_MS / 1000,
      maintenanceIntervalSeconds: 60,
    })
    // Each call reports its own errors.
    boss.on('error', () => {})
    await boss.start()
    return boss
  }

  #open(): Promise<PgBoss> {
    this.#opening ??= this.#start().catch((error) => {
      this.#opening = null
      throw error
    })
    return this.#opening
  }

  /** Returns the queue of an agent, and creates it if needed. */
  async #queueOf(agent: string | null): Promise<{ boss: PgBoss; queue: string }> {
    const boss = await this.#open()
    const queue = agent === null ? 'advance' : `advance/${agent}`
    await this.#ensure(boss, queue)
    return { boss, queue }
  }

  #ensure(boss: PgBoss, queue: string): Promise<void> {
    const known = this.#queues.get(queue)
    if (known) return known
    const made = boss.createQueue(queue, {
      // At most one job per conversation waits. The lease in the log decides who advances the conversation.
      policy: 'short',
      expireInSeconds: EXPIRES_SECONDS,
      retryLimit: 1000,
      retryDelay: 0,
      deleteAfterSeconds: 60,
    })
    this.#queues.set(queue, made)
    made.catch(() => this.#queues.delete(queue))
    return made
  }
}

/** Whether a worker can serve the agent. An imported conversation may name one that cannot exist. */
function isServable(agent: string | null): boolean {
  return agent === null || isAgentName(agent)
}

/** Converts errors to those that the log throws. */
async function withErrors<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw databaseError(error, OWNER)
  }
}

interface JobData {
  /** Encodes an id as JSON within JSON, because PostgreSQL's JSON cannot store every valid id. */
  due: string
}

function jobOf({ conversation, namespace, agent }: DueConversation) {
  const data: JobData = { due: JSON.stringify({ conversation, namespace, agent }) }
  const singletonKey = JSON.stringify([namespace, conversation])
  return { id: timedUuid(), data, singletonKey, group: { id: groupOf(namespace ?? '') } }
}

/** Returns a UUID that starts with the time (RFC 9562, version 7). */
function timedUuid(): string {
  const time = Date.now().toString(16).padStart(12, '0')
  const random = randomUUID()
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15)}`
}

/** Returns the group of a namespace. Conversations without a namespace form a group too. */
function groupOf(namespace: string): string {
  return JSON.stringify(namespace)
}

/**
 * Returns the statement that locks the waiting job of a conversation. Its conditions match an index of
 * pg-boss.
 */
function lockJob(schema: string): string {
  return `SELECT id FROM "${schema}".job WHERE name = $1 AND COALESCE(singleton_key, '') = $2
    AND state = 'created' AND policy = 'short' FOR UPDATE`
}
