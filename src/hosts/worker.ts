import { setTimeout as sleep } from 'node:timers/promises'
import type { Agent } from '../agent/agent-contract.ts'
import {
  type AgentsByName,
  readServedAgents,
  SERVED_AGENTS,
  type ServedAgents,
} from '../agent/served-agents.ts'
import { checkOptions, is, type OptionTable } from '../core/check-options.ts'
import { ByrefError, DamagedError, errorMessage } from '../core/errors.ts'
import { inBackground } from '../core/in-background.ts'
import { startTimer } from '../core/timer.ts'
import {
  type ConversationLog,
  type ConversationSummary,
  type DueConversation,
  listAll,
} from '../log/conversation-log.ts'
import type { HostQueue, TakenJob } from './queue.ts'

/** Options of {@link createWorker}. */
export interface WorkerOptions extends ServedAgents {
  /** The queue of the agents' log. */
  queue: HostQueue
  /**
   * Maximum number of conversations that this process advances at once. Most wait for models and tools. Default: 50.
   */
  concurrency?: number
  /**
   * Maximum number of conversations of one namespace, so that other namespaces get capacity. Default: three
   * quarters of `concurrency`.
   */
  perNamespace?: number
  /**
   * Maximum time that running steps get to end after `stop`, in milliseconds. Then they are aborted. Default: 10,000.
   */
  graceMs?: number
  /** Receives errors outside of runs, such as a lost database. Default: writes them to stderr, once a minute. */
  onError?(error: unknown): void
}

const OPTIONS: OptionTable<WorkerOptions> = {
  ...SERVED_AGENTS,
  queue: is.required(is.having<HostQueue>('a queue, made by createQueue', 'take', 'enqueue')),
  ...is.all(is.count, 'concurrency', 'perNamespace'),
  graceMs: is.notNegative,
  onError: is.callback(),
}

/** Advances the conversations in a queue. */
export interface Worker {
  /** The number of conversations that the worker is advancing. */
  readonly active: number
  /** Starts the worker. Rejects if the queue or the log cannot be opened. */
  start(): Promise<void>
  /**
   * Stops the worker. It takes no more conversations and lets running steps end. Other workers continue the
   * released conversations at once.
   */
  stop(): Promise<void>
}

/** Time between two searches for abandoned conversations, in milliseconds. */
const POLL_MS = 500

/** Time between two checks for an emptied queue, in milliseconds. */
const WHOLE_MS = 60_000

/** Time for which finished jobs are collected before they are removed from the queue, in milliseconds. */
const COLLECT_MS = 5

/** Maximum number of conversations that are enqueued at once. */
const BATCH = 1000

/**
 * Pauses before a conversation whose log failed is tried again, in milliseconds. This worker may hold the
 * lease, and other workers cannot continue until it expires. In total the pauses are as long as a default
 * lease.
 */
const RETRY_MS = [100, 400, 1600, 1600, 1600, 1600, 1600, 1600]

/**
 * Creates a worker, which is idle until `start`. Any number of workers may share a queue, because the log lets
 * only one process advance a conversation at a time.
 *
 * @throws ByrefError `config_invalid` if the agents' log uses another queue
 */
export function createWorker(options: WorkerOptions): Worker {
  checkOptions('createWorker', options, OPTIONS)
  return new QueueWorker(options)
}

class QueueWorker implements Worker {
  readonly #agents: AgentsByName
  readonly #first: Agent
  readonly #queue: HostQueue
  readonly #options: Required<Omit<WorkerOptions, keyof ServedAgents | 'queue'>>
  readonly #leaving = new AbortController()
  readonly #stopping = new AbortController()
  /** Running conversations, each with its namespace. */
  readonly #active = new Map<Promise<void>, string | null>()
  #finished: TakenJob[] = []
  #flushTimer: NodeJS.Timeout | undefined
  #flushed: Promise<void> = Promise.resolve()
  #polling: Promise<void> | null = null
  #pollTimer: NodeJS.Timeout | undefined
  #filling: Promise<void> | null = null
  #again = false
  #checkedWhole = 0
  /** The cursor of the next page of abandoned conversations. */
  #abandoned: string | null = null
  #unsubscribe = (): void => {}

  constructor(options: WorkerOptions) {
    const { queue, concurrency = 50, graceMs = 10_000, onError = reportToStderr() } = options
    const { perNamespace = Math.max(1, Math.ceil(concurrency * 0.75)) } = options
    this.#agents = readServedAgents('createWorker', options)
    const agents = [...this.#agents.values()]
    if (agents.some(({ log }) => log.queue !== queue)) {
      throw new ByrefError(
        'config_invalid',
        "createWorker needs the queue of its agents' log: give the same queue to createPostgresLog({ …, queue })",
      )
    }
    this.#first = agents[0] as Agent
    this.#queue = queue
    this.#options = { concurrency, perNamespace, graceMs, onError }
  }

  get active(): number {
    return this.#active.size
  }

  async start(): Promise<void> {
    await this.#queue.supervise()
    this.#checkedWhole = performance.now()
    await rebuildQueue(this.#first.log, this.#queue)
    this.#unsubscribe = this.#queue.onDue(() => this.#fill())
    this.#polling = this.#poll()
    await this.#polling
  }

  async stop(): Promise<void> {
    this.#leaving.abort()
    clearTimeout(this.#pollTimer)
    this.#unsubscribe()
    // The caller closes the queue and the log after this.
    await Promise.all([this.#polling, this.#filling])
    const abort = startTimer(this.#options.graceMs, () => this.#stopping.abort())
    await Promise.all(this.#active.keys())
    clearTimeout(abort)
    await this.#flush()
  }

  /** Takes jobs until none are waiting or the worker is full. A call in the meantime makes it try again. */
  #fill(): void {
    this.#again = true
    this.#filling ??= (async () => {
      while (this.#again && !this.#leaving.signal.aborted) {
        this.#again = false
        await this.#takeAll().catch(this.#options.onError)
      }
      this.#filling = null
    })()
  }

  /** First takes jobs of namespaces that have less than their share, then fills the remaining room. */
  async #takeAll(): Promise<void> {
    const concurrency = this.#options.concurrency
    const agents = [...new Set([null, ...this.#agents.keys()])]
    const namespaces = new Set(this.#active.values()).size
    const fair = Math.max(1, Math.floor(concurrency / (namespaces + 1)))
    for (const max of new Set([
      Math.min(this.#options.perNamespace, fair),
      this.#options.perNamespace,
    ])) {
      while (this.#active.size < concurrency && !this.#leaving.signal.aborted) {
        const { crowded, room } = this.#crowd(max)
        // All jobs may be of one namespace.
        const limit = Math.min(room, concurrency - this.#active.size)
        const jobs = await this.#queue.take({ agents, without: crowded, limit })
        for (const job of jobs) this.#begin(job)
        if (jobs.length > 0) continue
        if (crowded.length === 0) return
        break
      }
    }
  }

  /** Returns the namespaces that have at least `max` conversations, and how many more any other namespace may have. */
  #crowd(max: number): { crowded: string[]; room: number } {
    const counts = new Map<string, number>()
    for (const namespace of this.#active.values()) {
      if (namespace !== null) counts.set(namespace, (counts.get(namespace) ?? 0) + 1)
    }
    const crowded: string[] = []
    let room = max
    for (const [namespace, count] of counts) {
      if (count >= max) crowded.push(namespace)
      else room = Math.min(room, max - count)
    }
    return { crowded, room }
  }

  #begin(job: TakenJob): void {
    const work = this.#advance(job).catch(this.#options.onError)
    this.#active.set(work, job.namespace)
    const ended = work.then(() => {
      this.#active.delete(work)
      this.#fill()
    })
    inBackground('Taking jobs', ended)
  }

  async #advance(job: TakenJob): Promise<void> {
    let isDone = false
    const done = (): void => {
      if (!isDone) this.#finish(job)
      isDone = true
    }
    for (const pause of [...RETRY_MS, null]) {
      try {
        return await this.#run(job, done)
      } catch (error) {
        // A damaged conversation stays damaged, so another attempt would fail too.
        if (error instanceof DamagedError) done()
        const isLogFailure = error instanceof ByrefError && error.code === 'log_failed'
        if (pause === null || !isLogFailure || this.#leaving.signal.aborted) throw error
        this.#options.onError(error)
        await sleep(pause)
      }
    }
  }

  async #run(job: TakenJob, done: () => void): Promise<void> {
    const agent = this.#agents.get(job.agent) ?? this.#first
    const release = await agent.advance(job.conversation, {
      namespace: job.namespace,
      onTaken: done,
      leave: this.#leaving.signal,
      signal: this.#stopping.signal,
    })
    // A job that is not finished returns to the queue: after a failure, and if this process stopped before it had the
    // lease.
    if (release.type === 'failed') throw release.error
    if (release.type !== 'stopped') done()
  }

  #finish(job: TakenJob): void {
    this.#finished.push(job)
    const flush = () => inBackground('Removing finished jobs', this.#flush())
    this.#flushTimer ??= setTimeout(flush, COLLECT_MS)
  }

  #flush(): Promise<void> {
    clearTimeout(this.#flushTimer)
    this.#flushTimer = undefined
    if (this.#finished.length > 0) {
      const before = this.#flushed
      const done = this.#queue.done(this.#finished).catch(this.#options.onError)
      this.#finished = []
      this.#flushed = done.then(() => before)
    }
    return this.#flushed
  }

  async #poll(): Promise<void> {
    const { log } = this.#first
    try {
      if (performance.now() - this.#checkedWhole > WHOLE_MS) {
        this.#checkedWhole = performance.now()
        await rebuildQueue(log, this.#queue)
      }
      this.#abandoned = await enqueueAbandoned(log, this.#queue, this.#abandoned)
    } catch (error) {
      this.#options.onError(error)
    }
    this.#fill()
    if (this.#leaving.signal.aborted) return
    this.#pollTimer = setTimeout(
      () => {
        this.#polling = this.#poll()
      },
      POLL_MS * (0.75 + Math.random() / 2),
    )
  }
}

function reportToStderr(): (error: unknown) => void {
  let reported = Number.NEGATIVE_INFINITY
  return (error) => {
    if (performance.now() - reported < 60_000) return
    reported = performance.now()
    process.stderr.write(`byref worker: ${errorMessage(error)}\n`)
  }
}

/** Fills a new or emptied queue from the log. */
async function rebuildQueue(log: ConversationLog, queue: HostQueue): Promise<void> {
  if (await queue.isWhole()) return
  let batch: DueConversation[] = []
  for await (const summary of listAll(log, { due: true, allNamespaces: true })) {
    // The owner of a valid lease continues. When it is gone, the conversation counts as abandoned.
    if (summary.lease && summary.lease.expiresIn > 0) continue
    batch.push(dueOf(summary))
    if (batch.length < BATCH) continue
    await queue.add(batch)
    batch = []
  }
  await queue.add(batch)
  await queue.markWhole()
}

/**
 * Enqueues conversations whose owner is gone, a page at a time: nobody may be able to continue the first ones. Returns
 * the cursor of the next page.
 */
async function enqueueAbandoned(
  log: ConversationLog,
  queue: HostQueue,
  cursor: string | null,
): Promise<string | null> {
  const page = { due: 'abandoned', allNamespaces: true, limit: 100, cursor } as const
  const { conversations, next } = await log.list(page)
  if (conversations.length > 0) await queue.add(conversations.map(dueOf))
  return next
}

function dueOf({ id, namespace, agent }: ConversationSummary): DueConversation {
  return { conversation: id, namespace, agent }
}
