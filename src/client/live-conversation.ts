import { type ConversationState, emptyConversation } from '../core/events/conversation-state.ts'
import type { LogRecord } from '../core/events/events.ts'
import { createFold, type Foldable } from '../core/events/fold.ts'
import { inBackground, throwLater } from '../core/in-background.ts'
import { unlessAborted } from '../core/on-abort.ts'
import type { EventsPage } from '../wire/types.ts'
import { type FollowStreamOptions, followStream } from './follow-stream.ts'
import type { ServerSentEvent } from './server-sent-events.ts'
import { ApiError } from './transport.ts'

/**
 * The status of a live conversation: loading, following the stream, reconnecting, or closed. It is closed by `close()`,
 * or because the server refused it; then there is an `error`.
 */
export type LiveStatus = 'connecting' | 'live' | 'reconnecting' | 'closed'

/** A conversation that updates itself. */
export interface LiveConversation {
  readonly id: string
  readonly status: LiveStatus
  /** Why it was closed or is reconnecting; otherwise null. */
  readonly error: ApiError | null
  /** Whether the state contains all events from before it was opened. Until then, it contains only the first ones. */
  readonly loaded: boolean
  /** Returns the state of the last notification: the same object until the next one. */
  getState(): ConversationState
  /** Calls the listener after changes, once for many events. Returns the function that ends it. */
  subscribe(listener: () => void): () => void
  /** Follows again after the server refused it, such as when a person has logged in. Otherwise does nothing. */
  reconnect(): void
  /** Stops following. */
  close(): void
}

/** The network of a live conversation, and its time limits in milliseconds. */
export interface LiveOptions extends FollowStreamOptions {
  loadPage(after: number, signal: AbortSignal): Promise<EventsPage>
  openStream(after: number, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>
  /** The first page, if it was requested already. Null or a failure loads it again. */
  firstPage?: Promise<EventsPage | null>
  /** Minimum time between two notifications. Default: 30. */
  notifyEvery?: number
}

/** Number of pages that are requested at once. */
const PAGES_AT_ONCE = 4

/**
 * Loads a conversation page by page and follows its stream, from the last position after every interruption. Every
 * event counts once and in order. While it loads, listeners are notified each time the number of records has doubled.
 */
export function followConversation(id: string, options: LiveOptions): LiveConversation {
  return new FollowedConversation(id, options)
}

class FollowedConversation implements LiveConversation {
  readonly id: string
  readonly #options: LiveOptions
  readonly #listeners = new Set<() => void>()
  readonly #closing = new AbortController()
  #folding = createFold()
  /** The position of the last record, also of one that could not be folded. */
  #position = 0
  #published = emptyConversation
  #status: LiveStatus = 'connecting'
  #error: ApiError | null = null
  #loaded = false
  #firstPage: LiveOptions['firstPage']
  #timer: ReturnType<typeof setTimeout> | null = null

  constructor(id: string, options: LiveOptions) {
    this.id = id
    this.#options = options
    this.#firstPage = options.firstPage
    this.#start()
  }

  get status(): LiveStatus {
    return this.#status
  }

  get error(): ApiError | null {
    return this.#error
  }

  get loaded(): boolean {
    return this.#loaded
  }

  getState = (): ConversationState => this.#published

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  reconnect = (): void => {
    if (this.#status !== 'closed' || this.#closing.signal.aborted) return
    this.#enter(this.#loaded ? 'reconnecting' : 'connecting', this.#error)
    this.#start()
  }

  close = (): void => {
    if (this.#closing.signal.aborted) return
    this.#closing.abort()
    this.#enter('closed', this.#error)
  }

  #publish(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#published = this.#folding.snapshot()
    for (const listener of [...this.#listeners]) {
      try {
        listener()
      } catch (error) {
        throwLater(error)
      }
    }
  }

  #enter(status: LiveStatus, error: ApiError | null = null): void {
    this.#status = status
    this.#error = error
    this.#publish()
  }

  /** Folds a record once. A record that cannot be folded is skipped, so that the conversation stays usable. */
  #take(record: Foldable): boolean {
    if (record.position !== undefined) {
      if (record.position <= this.#position) return false
      this.#position = record.position
    }
    try {
      return this.#folding.apply(record)
    } catch {
      return false
    }
  }

  #start(): void {
    inBackground('Following a conversation', this.#run(this.#closing.signal))
  }

  async #run(signal: AbortSignal): Promise<void> {
    try {
      await followStream(
        (either, alive) => this.#open(either, alive),
        {
          onOpen: () => this.#enter('live'),
          onEvent: (event) => this.#onEvent(event),
          onLost: (problem) => this.#enter(this.#loaded ? 'reconnecting' : 'connecting', problem),
        },
        signal,
        this.#options,
      )
    } catch (problem) {
      this.#enter('closed', problem as ApiError)
    }
  }

  async #open(signal: AbortSignal, alive: () => void): Promise<ReadableStream<Uint8Array>> {
    if (!this.#loaded) await this.#loadPages(signal, alive)
    return this.#options.openStream(this.#position, signal)
  }

  async #loadPages(signal: AbortSignal, alive: () => void): Promise<void> {
    const stopping = new AbortController()
    try {
      for await (const page of this.#pages(AbortSignal.any([signal, stopping.signal]))) {
        alive()
        for (const record of page.records) this.#take(record)
        this.#loaded = page.next === null
        if (this.#loaded || this.#position >= 2 * this.#published.position) this.#publish()
      }
    } finally {
      stopping.abort()
    }
  }

  /**
   * Yields the remaining pages in order. After the first one, several are requested at once, because positions are
   * dense.
   */
  async *#pages(signal: AbortSignal): AsyncGenerator<EventsPage> {
    const { loadPage } = this.#options
    const given = this.#firstPage?.catch(() => null)
    this.#firstPage = undefined
    const early = await unlessAborted(signal, () => given)
    if (early) yield early
    if (early?.next === null) return
    const first = await loadPage(early?.next ?? this.#position, signal)
    yield first
    const size = first.records.length
    const requested = new Map<number, Promise<EventsPage>>()
    let after = first.next
    while (after !== null) {
      for (let ahead = after; ahead < after + PAGES_AT_ONCE * size; ahead += size) {
        if (requested.has(ahead)) continue
        const next = loadPage(ahead, signal)
        // A failure is thrown when the page is needed.
        next.catch(() => {})
        requested.set(ahead, next)
      }
      const page = (await requested.get(after)) as EventsPage
      requested.delete(after)
      yield page
      after = page.next
    }
  }

  #onEvent({ event, data }: ServerSentEvent): void {
    if (event === 'deleted') {
      throw new ApiError(404, 'conversation_not_found', 'The conversation was deleted.')
    }
    // A new conversation has the same id, and maybe no events.
    const isReset = event === 'reset'
    if (isReset) {
      this.#folding = createFold()
      this.#position = 0
    }
    const record = event === undefined ? readRecord(data) : null
    if (isReset || (record && this.#take(record))) {
      const { notifyEvery = 30 } = this.#options
      this.#timer ??= setTimeout(() => this.#publish(), notifyEvery)
    }
  }
}

/** Returns the record in an event of the stream; null for events of later versions, and for text that is not JSON. */
function readRecord(data: string): Foldable | null {
  try {
    const record = JSON.parse(data) as Partial<LogRecord> | null
    if (typeof record?.event?.type !== 'string') return null
    return record as Foldable
  } catch {
    return null
  }
}
