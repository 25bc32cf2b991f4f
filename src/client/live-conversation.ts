import { type ConversationState, emptyConversation } from '../core/events/conversation-state.ts'
import type { LogRecord } from '../core/events/events.ts'
import { createFold, type Foldable } from '../core/events/fold.ts'
import { inBackground } from '../core/in-background.ts'
import type { EventsPage } from '../wire/types.ts'
import { ApiError } from './api-error.ts'
import { readEventStream } from './event-stream.ts'
import { pause, pauseAfter } from './pause.ts'

/**
 * How a live conversation stands: first loading, following what happens, trying to get the connection back, or over,
 * by `close()` or because the server refused (then there is an `error`).
 */
export type ConversationStatus = 'connecting' | 'live' | 'reconnecting' | 'closed'

/** A conversation that keeps itself up to date. */
export interface LiveConversation {
  readonly id: string
  readonly status: ConversationStatus
  /** Why it was closed or is reconnecting; null while all is well. */
  readonly error: ApiError | null
  /** Whether all that was said before it was opened is in the state; until then the state is that of its beginning. */
  readonly loaded: boolean
  /** The state that listeners were last told of: the same object until the next notification. */
  getState(): ConversationState
  /** Calls the listener after changes, many events at a time; gives back how to stop that. */
  subscribe(listener: () => void): () => void
  /** Stops for good. */
  close(): void
}

/** What a live conversation needs of the network, both abortable, and its patience; times in milliseconds. */
export interface LiveOptions {
  loadPage(after: number, signal: AbortSignal): Promise<EventsPage>
  openStream(after: number, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>
  /** The first page where it was asked for already; null, or a failure, has it loaded as the others. */
  firstPage?: Promise<EventsPage | null>
  /** At most one notification in this time. Default 30. */
  notifyEvery?: number
  /** A line on which nothing comes for this long, not even a comment, is taken for dead. Default 45,000. */
  idleTimeout?: number
  /** The first pause before reconnecting; doubles up to 20 times itself. Default 500. */
  retryDelay?: number
}

/** How many pages are asked for at once where there are more than one. */
const AT_ONCE = 4

/**
 * Loads a conversation page by page, then follows its stream, from the last position on after every cut. Every event
 * counts once and in order: `fold` passes over positions that it has seen. While it loads, listeners are told each time
 * that there is twice as much.
 */
export function followConversation(id: string, options: LiveOptions): LiveConversation {
  const { loadPage, openStream, notifyEvery = 30, idleTimeout = 45_000, retryDelay = 500 } = options
  const listeners = new Set<() => void>()
  const closing = new AbortController()
  let folding = createFold()
  /** Of the last record that came, also where it could not be folded. */
  let position = 0
  let published = emptyConversation
  let status: ConversationStatus = 'connecting'
  let error: ApiError | null = null
  let loaded = false
  let { firstPage } = options
  let timer: ReturnType<typeof setTimeout> | null = null

  function publish(): void {
    if (timer !== null) clearTimeout(timer)
    timer = null
    published = folding.snapshot()
    for (const listener of [...listeners]) listener()
  }

  /** Folds a record in, once; one that cannot be taken is passed over, or it would close the whole conversation. */
  function take(record: Foldable): boolean {
    if (record.position !== undefined) {
      if (record.position <= position) return false
      position = record.position
    }
    try {
      return folding.apply(record)
    } catch {
      return false
    }
  }

  function enter(nextStatus: ConversationStatus, nextError: ApiError | null = null): void {
    status = nextStatus
    error = nextError
    publish()
  }

  async function loadPages(signal: AbortSignal): Promise<void> {
    const stopping = new AbortController()
    try {
      for await (const page of pages(AbortSignal.any([signal, stopping.signal]))) {
        for (const record of page.records) take(record)
        loaded = page.next === null
        if (loaded || position >= 2 * published.position) publish()
      }
    } finally {
      stopping.abort()
    }
  }

  /** The pages from here on, in their order; those after the first are asked for some at once, since positions are dense. */
  async function* pages(signal: AbortSignal): AsyncGenerator<EventsPage> {
    const early = await firstPage?.catch(() => null)
    firstPage = undefined
    const first = early ?? (await loadPage(position, signal))
    yield first
    const size = first.records.length
    const asked = new Map<number, Promise<EventsPage>>()
    let after = first.next
    while (after !== null) {
      for (let ahead = after; ahead < after + AT_ONCE * size; ahead += size) {
        if (asked.has(ahead)) continue
        const next = loadPage(ahead, signal)
        // What fails is told when its turn comes.
        next.catch(() => {})
        asked.set(ahead, next)
      }
      const page = (await asked.get(after)) as EventsPage
      asked.delete(after)
      yield page
      after = page.next
    }
  }

  async function followStream(signal: AbortSignal, onOpen: () => void): Promise<void> {
    const line = new AbortController()
    const either = AbortSignal.any([signal, line.signal])
    const dead = () => line.abort(new ApiError(0, 'unreachable', 'The connection went silent.'))
    let watchdog = setTimeout(dead, idleTimeout)
    const alive = () => {
      clearTimeout(watchdog)
      watchdog = setTimeout(dead, idleTimeout)
    }
    try {
      const body = await openStream(position, either)
      onOpen()
      for await (const { event, data } of readEventStream(body, alive)) {
        if (event === 'deleted') {
          throw new ApiError(404, 'conversation_not_found', 'The conversation was deleted.')
        }
        // It is another one of the same name: what was known is gone.
        if (event === 'reset') {
          folding = createFold()
          position = 0
        }
        const record = event === undefined ? readRecord(data) : null
        if (record && take(record)) timer ??= setTimeout(publish, notifyEvery)
      }
    } finally {
      clearTimeout(watchdog)
      line.abort()
    }
  }

  async function run(signal: AbortSignal): Promise<void> {
    let failures = 0
    while (!signal.aborted) {
      try {
        if (!loaded) await loadPages(signal)
        await followStream(signal, () => {
          failures = 0
          enter('live')
        })
        throw new ApiError(0, 'unreachable', 'The connection was closed.')
      } catch (reason) {
        if (signal.aborted) return
        const problem = asApiError(reason)
        if (!problem.transient) return enter('closed', problem)
        enter(loaded ? 'reconnecting' : 'connecting', problem)
        await pause(pauseAfter(failures, retryDelay), signal)
        failures += 1
      }
    }
  }

  inBackground('Following a conversation', run(closing.signal))

  return {
    id,
    get status() {
      return status
    },
    get error() {
      return error
    },
    get loaded() {
      return loaded
    },
    getState: () => published,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close() {
      if (closing.signal.aborted) return
      closing.abort()
      enter('closed', error)
    },
  }
}

/** What one event of the stream says, or null for what is no record: a later version's, or not JSON. */
function readRecord(data: string): Foldable | null {
  try {
    const record = JSON.parse(data) as Partial<LogRecord> | null
    if (typeof record?.event?.type !== 'string') return null
    return record as Foldable
  } catch {
    return null
  }
}

function asApiError(reason: unknown): ApiError {
  if (reason instanceof ApiError) return reason
  return new ApiError(0, 'unreachable', 'The connection was lost.', { cause: reason })
}
