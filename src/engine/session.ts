import { loadValidator } from '../boundary/validate.ts'
import type { Board } from '../core/board/board.ts'
import { ByrefError, errorMessage } from '../core/errors.ts'
import { type ConversationState, openRun } from '../core/events/conversation-state.ts'
import type { ConversationEvent, LogRecord } from '../core/events/events.ts'
import { createFold, type Fold, type Foldable } from '../core/events/fold.ts'
import { inBackground } from '../core/in-background.ts'
import { createLabels, type Labels } from '../core/labels/labels.ts'
import type { Results } from '../core/messages/results.ts'
import { type ConversationLog, LogConflictError, readAll } from '../log/conversation-log.ts'
import { nodeBuiltin } from '../node-builtin.ts'
import {
  becomesIdle,
  type Decide,
  type DecidedAppend,
  decideBatch,
  type Entry,
  isRejected,
  joinEntries,
  type PendingAppend,
} from './append-batch.ts'
import { Activity, LeaseKeeper } from './lease-keeper.ts'
import type { AgentSettings } from './run-settings.ts'
import { SessionValues } from './session-values.ts'
import type { StepPrompts } from './steps/step-prompts.ts'

const { setTimeout: sleep } = nodeBuiltin('node:timers/promises')

/** Options of {@link Session.open}. */
export interface SessionOptions {
  log: ConversationLog
  id: string
  /** The owner of the lease: an id that is unique across processes. */
  owner: string
  leaseMs: number
  /** The settings of the agent. With trust, the labels of values are tracked. Default: no trust. */
  settings?: Pick<AgentSettings, 'trust'>
  /** Returns events that must follow these, such as the end of the run. They are appended in the same transaction. */
  followUp?(session: Session, events: readonly ConversationEvent[]): readonly ConversationEvent[]
  /** Calls the event handlers for an event of this process, one event after the other. Absent if there are none. */
  callHandlers?(session: Session, event: Foldable): Promise<void>
  /** Called with each event that streams from this process, after the fold has taken it. */
  onStream?(event: ConversationEvent): void
  /** Called when a handler fails. */
  onHandlerError(session: Session, error: unknown): void
  /**
   * Called when the log has fewer records than this session: the conversation was deleted, or the log was restored.
   */
  onGone?(error: ByrefError): void
}

/** The pause between attempts to read missing records, in milliseconds. It doubles up to the maximum. */
const FIRST_PAUSE_MS = 50
const MAX_PAUSE_MS = 5000

/**
 * One conversation that is open in this process: its state, its lease, its appends and its listeners. The state is the
 * fold of the log. Appends of this process and of others keep it up to date.
 */
export class Session {
  readonly id: string
  /** Counts what the open run waits for. */
  readonly activity = new Activity()
  /** The labels of its values; null if trust is off. */
  readonly labels: Labels | null
  readonly lease: LeaseKeeper
  /** The ids of all calls so far, also of deleted answers. Tools use them as idempotency keys. */
  readonly callIds = new Set<string>()
  /** The ids of all messages, also of deleted ones and of those that wait for a run. */
  readonly messageIds = new Set<string>()
  /** Makes the prompts of its steps. Set by the first runner. */
  prompts: StepPrompts | null = null

  readonly #options: SessionOptions
  readonly #fold: Fold
  readonly #values: SessionValues
  readonly #listeners = new Set<(event: Foldable) => void>()
  readonly #queue: PendingAppend[] = []
  /** Resolves when the queue is empty; null if it is empty. */
  #writing: Promise<void> | null = null
  #notifying: Promise<void> = Promise.resolve()
  /** The step that an append of this session began, until `takeStep`. */
  #begunStep: string | null = null
  /** The highest position that the log has announced. */
  #announced = 0
  #isReading = false
  #isClosed = false
  /** Set if the log has fewer records than this session. Then every append is rejected with this error. */
  #gone: ByrefError | null = null
  /** The difference between the log's clock and this process's monotonic clock, measured at the last append. */
  #clock = { timestamp: '', offset: Date.now() - performance.now() }

  /** Reads a conversation from its log. */
  static async open(options: SessionOptions): Promise<Session> {
    await loadValidator()
    const session = new Session(options)
    await session.refresh()
    return session
  }

  private constructor(options: SessionOptions) {
    const { log, id, owner, leaseMs } = options
    this.id = id
    this.labels = options.settings?.trust ? createLabels() : null
    this.lease = new LeaseKeeper({
      log,
      owner,
      conversation: id,
      ms: leaseMs,
      activity: this.activity,
    })
    this.#options = options
    this.#values = new SessionValues(() => this.state.messages, this.labels)
    this.#fold = createFold(undefined, {
      onMessage: (message) => this.#values.add(message),
    })
  }

  /** The current state. The object changes in place as events arrive. */
  get state(): ConversationState {
    return this.#fold.state
  }

  /** The board of the data messages. */
  get board(): Board {
    return this.#values.board
  }

  /** The results of calls, by number. */
  get results(): Results {
    return this.#values.results
  }

  /** The open step, if it began in this session and its model has not been asked yet; else null. */
  get begunStep(): string | null {
    const open = openRun(this.state)?.steps.at(-1)
    return open?.messageId === this.#begunStep ? this.#begunStep : null
  }

  /** Clears `begunStep`, because the step's model is being asked. */
  takeStep(): void {
    this.#begunStep = null
  }

  /**
   * The time by the log's clock, in milliseconds since 1970, as of the last append. A host's own clock may be
   * wrong.
   */
  now(): number {
    return this.#clock.offset + performance.now()
  }

  /**
   * Appends an entry, or the entry that a function decides on for the current state. If the log is ahead, the
   * function decides again. Appends of the same turn of the event loop share one transaction, and each sees the
   * state after the ones before it. Data messages are first put on the board: if one breaks its schema, its whole
   * entry is rejected. Resolves to the records; empty if the function returned null.
   *
   * @param mayAppend Called right before the write. False rejects the append with RunLostError. Default: always
   *   true.
   * @throws any error of the function; LeaseHeldError; RunLostError; ByrefError `log_failed`, or
   *   `conversation_not_found` if the conversation was deleted
   */
  append(entryOrDecide: Entry | Decide, mayAppend?: () => boolean): Promise<readonly LogRecord[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly LogRecord[]>()
    this.#queue.push({ entryOrDecide, mayAppend, resolve, reject })
    this.#writing ??= this.#writeAll()
    return promise
  }

  /**
   * Appends an entry that is not allowed during a run (`conversation_busy`). A run of another process may have ended
   * without this process knowing it yet, so the log is read again before the append is rejected.
   */
  async appendIdle(decide: Decide): Promise<void> {
    const { position } = this.state
    try {
      await this.append(decide)
    } catch (error) {
      if (!(error instanceof ByrefError && error.code === 'conversation_busy')) throw error
      await this.refresh()
      if (this.state.position === position) throw error
      await this.append(decide)
    }
  }

  /** Resolves when the queue of appends is empty. */
  async written(): Promise<void> {
    await this.#writing
  }

  /** Sends an event that is not durable to all listeners, also in other processes. */
  stream(event: ConversationEvent): void {
    const { log, onStream } = this.#options
    this.#apply({ event })
    onStream?.(event)
    this.#notify({ event })
    log.stream?.(this.id, event)
  }

  /** Applies an event that another process has streamed. */
  receiveStreamed(event: ConversationEvent): void {
    this.#apply({ event })
  }

  /**
   * Calls the listener with every event from now on, in order: all records of the log, and events that stream here.
   * Returns a function that removes the listener.
   */
  watch(listener: (event: Foldable) => void): () => void {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  /** Applies records that the log has announced. */
  receive(records: readonly LogRecord[]): void {
    for (const record of records) {
      if (record.position > this.state.position + 1) {
        this.#announced = Math.max(this.#announced, record.position)
        if (!this.#isReading) inBackground('Reading a conversation', this.#readToEnd())
        return
      }
      this.#apply(record)
    }
  }

  /** Reads the records that this session does not have yet. */
  async refresh(): Promise<void> {
    for await (const record of readAll(this.#options.log, this.id, this.state.position))
      this.#apply(record)
  }

  /** Resolves when the event handlers have handled all events so far. */
  handlersDone(): Promise<void> {
    return this.#notifying
  }

  /** Resolves when the current appends are written and their event handlers have ended. */
  async settled(): Promise<void> {
    // A log may announce records while `append` is being called.
    await null
    await this.#writing
    await this.#notifying
  }

  /** Stops reading missing records. */
  close(): void {
    this.#isClosed = true
  }

  #apply(event: Foldable): void {
    if (!this.#fold.apply(event)) return
    if (event.position !== undefined) this.labels?.apply(event)
    const { type } = event.event
    if (type === 'TOOL_CALL_START' || type === 'TOOL_CALL_END')
      this.callIds.add(event.event.toolCallId)
    if (type === 'NEW_MESSAGE') this.messageIds.add(event.event.payload.id)
    if (type === 'MESSAGE_DELETED') {
      this.#values.readAgain()
      this.#freeId(event.event.messageId)
    }
    for (const listener of this.#listeners) listener(event)
  }

  /** Frees the id of a message that was deleted while it waited for a run. Other messages leave a tombstone. */
  #freeId(messageId: string): void {
    if (!this.state.messages.some(({ id }) => id === messageId)) this.messageIds.delete(messageId)
  }

  /** Reads until it has every record that the log has announced. Retries when reading fails. */
  async #readToEnd(): Promise<void> {
    this.#isReading = true
    for (let pause = FIRST_PAUSE_MS; !this.#isClosed && this.state.position < this.#announced; ) {
      try {
        await this.refresh()
      } catch {
        // Try again after a pause. An append may bring the missing records before that.
      }
      if (this.state.position < this.#announced)
        await sleep(Math.min(pause, MAX_PAUSE_MS), null, { ref: false })
      pause *= 2
    }
    this.#isReading = false
  }

  #notify(event: Foldable): void {
    const { callHandlers, onHandlerError } = this.#options
    if (!callHandlers) return
    this.#notifying = this.#notifying
      .then(() => callHandlers(this, event))
      .catch((error: unknown) => onHandlerError(this, error))
  }

  /** Writes until the queue is empty. */
  async #writeAll(): Promise<void> {
    try {
      while (this.#queue.length > 0) {
        await allHaveAppended()
        await this.#write(this.#queue.splice(0))
      }
    } finally {
      this.#writing = null
    }
  }

  async #write(batch: readonly PendingAppend[]): Promise<void> {
    for (let remaining = batch; ; ) {
      const decided = this.#decide(remaining)
      if (decided.length === 0) return
      try {
        this.#settle(decided, await this.#appendToLog(joinEntries(decided)))
        return
      } catch (error) {
        this.#values.rewind()
        const pending = decided.flatMap((append) => append.pending ?? [])
        if (error instanceof LogConflictError) {
          this.receive(error.records)
          remaining = pending
        } else if (pending.length > 1 && isRejected(error)) {
          // Nothing was stored. Write the appends one by one, so that only the invalid one is rejected.
          for (const append of pending) await this.#write([append])
          return
        } else {
          const reason = asLogError(error)
          if (reason.code === 'conversation_not_found') {
            this.#gone = reason
            this.#options.onGone?.(reason)
          }
          for (const append of pending) append.reject(reason)
          return
        }
      }
    }
  }

  /** Decides on a batch. What must wait for the result of these appends goes back into the queue. */
  #decide(batch: readonly PendingAppend[]): readonly DecidedAppend[] {
    const gone = this.#gone
    if (gone) {
      for (const pending of batch) pending.reject(gone)
      return []
    }
    const { decided, undecided } = decideBatch(batch, {
      state: this.state,
      timestamp: new Date(this.now()).toISOString(),
      owner: this.#options.owner,
      values: this.#values,
      followUp: (events) => this.#options.followUp?.(this, events) ?? [],
    })
    this.#queue.unshift(...undecided)
    return decided
  }

  async #appendToLog({ events, debug, lease }: Entry): Promise<readonly LogRecord[]> {
    const { log, owner, leaseMs } = this.#options
    // The lease ends with the run, unless a message is queued.
    const ms = becomesIdle(this.state, events) ? 0 : leaseMs
    const records = await this.activity.during(() =>
      log.append(this.id, events, {
        after: this.state.position,
        lease: lease ? { owner, ms } : undefined,
        debug,
      }),
    )
    if (lease) this.lease.appended({ frees: ms === 0 })
    this.#setClock(records.at(-1)?.timestamp)
    return records
  }

  #setClock(timestamp = this.#clock.timestamp): void {
    // Appends in the same millisecond do not need another measurement.
    if (timestamp === this.#clock.timestamp) return
    this.#clock = { timestamp, offset: Date.parse(timestamp) - performance.now() }
  }

  #settle(decided: readonly DecidedAppend[], records: readonly LogRecord[]): void {
    this.receive(records)
    let start = 0
    for (const { pending, entry } of decided) {
      const appended = records.slice(start, start + entry.events.length)
      start += entry.events.length
      for (const [i, record] of appended.entries()) {
        const event = entry.events[i] as ConversationEvent
        if (event.type === 'STEP_STARTED') this.#begunStep = event.messageId
        // Pass on the original ASSET_CREATED, which can read its bytes. The log's copy cannot.
        this.#notify(event.type === 'ASSET_CREATED' ? { ...record, event } : record)
      }
      pending?.resolve(appended)
    }
  }
}

/** Resolves when the pending microtasks have run, so that their appends are in the queue. */
function allHaveAppended(): Promise<void> {
  return new Promise((resolve) => {
    process.nextTick(resolve)
  })
}

/** Wraps what a custom log throws. */
function asLogError(error: unknown): ByrefError {
  if (error instanceof ByrefError) return error
  return new ByrefError('log_failed', `The conversation's log failed: ${errorMessage(error)}`, {
    cause: error,
  })
}
