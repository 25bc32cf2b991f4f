import { setTimeout as sleep } from 'node:timers/promises'
import type { Agent } from '../agent/agent-contract.ts'
import { readServedAgents, SERVED_AGENTS, type ServedAgents } from '../agent/served-agents.ts'
import { checkOptions, is, type OptionTable } from '../core/check-options.ts'
import { ByrefError, errorMessage } from '../core/errors.ts'
import { DamagedError } from '../core/events/damaged-error.ts'
import { inBackground } from '../core/in-background.ts'
import type { DueConversation } from '../log/conversation-log.ts'
import { type ConversationLog, type ConversationSummary, listAll } from '../log/conversation-log.ts'
import type { HostQueue, TakenJob } from './queue.ts'

/** Options of {@link createWorker}. */
export interface WorkerOptions extends ServedAgents {
  /** The queue that the log of the agents was given. */
  queue: HostQueue
  /** Conversations that this process advances at once; they wait for models and tools most of the time. Default 50. */
  concurrency?: number
  /**
   * How many of them one namespace may have, so that there is room for others at once. Default: three quarters where there
   * are namespaces.
   */
  perNamespace?: number
  /** At a stop: how long steps that go on may take to end, in milliseconds, before they are broken off. Default 10,000. */
  graceMs?: number
  /** Hears what fails outside of runs, such as a database that is away; by default it goes to stderr, once a minute. */
  onError?(error: unknown): void
}

const OPTIONS: OptionTable<WorkerOptions> = {
  ...SERVED_AGENTS,
  queue: is.required(is.having<HostQueue>('a queue, made by createQueue', 'take', 'enqueue')),
  ...is.all(is.count, 'concurrency', 'perNamespace'),
  graceMs: is.notNegative,
  onError: is.callback(),
}

/** A process that advances the conversations that its queue names. */
export interface Worker {
  /** How many conversations it advances now. */
  readonly active: number
  /** Begins. Rejects where queue or log cannot be opened. */
  start(): Promise<void>
  /** Takes nothing more, lets the steps that go on end, and leaves the rest to others, who go on at once. */
  stop(): Promise<void>
}

/** How often it looks for what nobody told it of, in milliseconds. */
const LOOK_MS = 500
/** How often it looks whether somebody has emptied the queue. */
const WHOLE_MS = 60_000
/** Jobs that are done within so many milliseconds leave the queue together. */
const GATHER_MS = 5

/**
 * Pauses before a conversation whose log failed is tried again, in milliseconds: its lease may be ours already, and then everybody
 * else would wait until it is over.
 */
const AGAIN_MS = [100, 400, 1600]

/**
 * Makes a worker, which does nothing until it is started. Any number of them may share a queue; each conversation is advanced by
 * one at a time, which the log sees to.
 *
 * @throws ByrefError `config_invalid` where the log of the agents does not have the queue
 */
export function createWorker(options: WorkerOptions): Worker {
  checkOptions('createWorker', options, OPTIONS)
  const { queue, concurrency = 50, graceMs = 10_000, onError = sayOnStderr() } = options
  const { perNamespace = Math.max(1, Math.ceil(concurrency * 0.75)) } = options
  const byName = readServedAgents('createWorker', options)
  const agents = [...byName.values()]
  const [first] = agents
  if (!first || agents.some(({ log }) => log.queue !== queue)) throw notItsQueue()
  const { log } = first
  const names = [...new Set([null, ...byName.keys()])]
  const leaving = new AbortController()
  const stopping = new AbortController()
  /** What goes on, with the namespace of each. */
  const active = new Map<Promise<void>, string | null>()
  const finished: TakenJob[] = []
  let flushing: NodeJS.Timeout | undefined
  let flushed: Promise<void> = Promise.resolve()
  let looking: Promise<void> | null = null
  let filling: Promise<void> | null = null
  let again = false
  let looked = 0
  let timer: NodeJS.Timeout | undefined
  let unhear = (): void => {}

  /** Takes from the queue until nothing waits or there is no room; once more where it was called meanwhile. */
  function fill(): void {
    again = true
    filling ??= (async () => {
      while (again && !leaving.signal.aborted) {
        again = false
        await takeAll().catch(onError)
      }
      filling = null
    })()
  }

  /** First those whose namespaces have less than their share of what goes on, then what there is room for. */
  async function takeAll(): Promise<void> {
    const namespaces = new Set(active.values()).size
    const share = Math.min(perNamespace, Math.max(1, Math.floor(concurrency / (namespaces + 1))))
    for (const most of new Set([share, perNamespace])) {
      while (active.size < concurrency && !leaving.signal.aborted) {
        const { crowded, room } = crowd(most)
        // All of them may be of one namespace.
        const limit = Math.min(room, concurrency - active.size)
        const jobs = await queue.take({ agents: names, without: crowded, limit })
        for (const job of jobs) begin(job)
        if (jobs.length > 0) continue
        if (crowded.length === 0) return
        break
      }
    }
  }

  /** The namespaces that have at least so many, and how many more any other may have. */
  function crowd(most: number): { crowded: string[]; room: number } {
    const counts = new Map<string, number>()
    for (const namespace of active.values()) {
      if (namespace !== null) counts.set(namespace, (counts.get(namespace) ?? 0) + 1)
    }
    const crowded: string[] = []
    let room = most
    for (const [namespace, count] of counts) {
      if (count >= most) crowded.push(namespace)
      else room = Math.min(room, most - count)
    }
    return { crowded, room }
  }

  function begin(job: TakenJob): void {
    const work = advance(job).catch(onError)
    active.set(work, job.namespace)
    const ended = work.then(() => {
      active.delete(work)
      fill()
    })
    inBackground('Taking jobs', ended)
  }

  async function advance(job: TakenJob): Promise<void> {
    let isDone = false
    const done = (): void => {
      if (!isDone) finish(job)
      isDone = true
    }
    for (const pause of [...AGAIN_MS, null]) {
      try {
        return await give(job, done)
      } catch (error) {
        // The log has set it aside: to try again would only keep a place from others.
        if (error instanceof DamagedError) done()
        const isAway = error instanceof ByrefError && error.code === 'log_failed'
        if (pause === null || !isAway || leaving.signal.aborted) throw error
        onError(error)
        await sleep(pause)
      }
    }
  }

  async function give(job: TakenJob, done: () => void): Promise<void> {
    const agent = byName.get(job.agent) ?? (first as Agent)
    const release = await agent.advance(job.conversation, {
      ...{ namespace: job.namespace, onTaken: done },
      ...{ leave: leaving.signal, signal: stopping.signal },
    })
    // Not done, it comes back.
    if (release.type === 'failed') throw release.error
    done()
  }

  function finish(job: TakenJob): void {
    finished.push(job)
    flushing ??= setTimeout(() => inBackground('Telling the queue', flush()), GATHER_MS)
  }

  function flush(): Promise<void> {
    clearTimeout(flushing)
    flushing = undefined
    if (finished.length > 0) {
      const before = flushed
      const done = queue.done(finished.splice(0)).catch(onError)
      // Of what is over nothing is kept, however long it works.
      flushed = done.then(() => before)
    }
    return flushed
  }

  async function look(): Promise<void> {
    try {
      if (performance.now() - looked > WHOLE_MS) {
        looked = performance.now()
        await rebuildQueue(log, queue)
      }
      await enqueueAbandoned(log, queue)
    } catch (error) {
      onError(error)
    }
    fill()
    if (!leaving.signal.aborted) {
      const pause = LOOK_MS * (0.75 + Math.random() / 2)
      timer = setTimeout(() => {
        looking = look()
      }, pause)
    }
  }

  return {
    get active() {
      return active.size
    },
    async start() {
      await queue.supervise()
      looked = performance.now()
      await rebuildQueue(log, queue)
      unhear = queue.onDue(fill)
      looking = look()
      await looking
    },
    async stop() {
      leaving.abort()
      clearTimeout(timer)
      unhear()
      // Whoever stops it closes what it asks after that.
      await Promise.all([looking, filling])
      const breakOff = setTimeout(() => stopping.abort(), graceMs)
      await Promise.all(active.keys())
      clearTimeout(breakOff)
      await flush()
    },
  }
}

function notItsQueue(): ByrefError {
  return new ByrefError(
    'config_invalid',
    'The log of a worker’s agents must have its queue: createPostgresLog({ …, queue }) with the same one',
  )
}

function sayOnStderr(): (error: unknown) => void {
  let said = Number.NEGATIVE_INFINITY
  return (error) => {
    if (performance.now() - said < 60_000) return
    said = performance.now()
    process.stderr.write(`byref worker: ${errorMessage(error)}\n`)
  }
}

const BATCH = 1000

/** Fills a queue that is new, or that somebody has emptied, from the log. */
async function rebuildQueue(log: ConversationLog, queue: HostQueue): Promise<void> {
  if (await queue.isWhole()) return
  let batch: DueConversation[] = []
  for await (const summary of listAll(log, { due: true, allNamespaces: true })) {
    // Whoever has it goes on with it; where that is nobody any more, it is abandoned.
    if (summary.lease && summary.lease.expiresIn > 0) continue
    batch.push(dueOf(summary))
    if (batch.length < BATCH) continue
    await queue.add(batch)
    batch = []
  }
  await queue.add(batch)
  await queue.markWhole()
}

/** Enqueues what was left by processes that are gone, or that let it wait until now. */
async function enqueueAbandoned(log: ConversationLog, queue: HostQueue): Promise<void> {
  const page = { due: 'abandoned', allNamespaces: true, limit: 100 } as const
  const { conversations } = await log.list(page)
  if (conversations.length > 0) await queue.add(conversations.map(dueOf))
}

function dueOf({ id, namespace, agent }: ConversationSummary): DueConversation {
  return { conversation: id, namespace, agent }
}
