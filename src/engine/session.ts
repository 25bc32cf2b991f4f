import { loadValidator } from '../boundary/validate.ts'
import type { Board } from '../core/board/board.ts'
import { ByrefError, errorMessage } from '../core/errors.ts'
import { type ConversationState, isRunEnd, openRun } from '../core/events/conversation-state.ts'
import type { ConversationEvent, LogRecord } from '../core/events/events.ts'
import { createFold, type Fold, type Foldable } from '../core/events/fold.ts'
import { inBackground } from '../core/in-background.ts'
import { createLabels, type Labels } from '../core/labels/labels.ts'
import type { Results } from '../core/messages/results.ts'
import {
  type ConversationLog,
  LeaseHeldError,
  LogConflictError,
  readAll,
} from '../log/conversation-log.ts'
import { nodeBuiltin } from '../node-builtin.ts'
import { Activity, LeaseKeeper } from './lease-keeper.ts'
import { RunLostError } from './run-lost-error.ts'
import { createSessionValues, type SessionValues } from './session-values.ts'
import type { StepPrompts } from './steps/step-prompts.ts'

const { setTimeout: sleep } = nodeBuiltin('node:timers/promises')

/** What one writer appends, with debug data by message id. */
export interface Entry {
  events: readonly ConversationEvent[]
  debug?: Readonly<Record<string, unknown>>
  /**
   * Written by whoever runs the conversation: `take` takes the lease; `keep` renews it, and is refused with RunLostError
   * where this session does not run the conversation.
   */
  lease?: 'take' | 'keep'
}

/**
 * Decides what to append, given the state that it will follow. Called again when the log turns out to be ahead. Null
 * appends nothing. An error that it throws rejects its own append only.
 */
export type Decide = (state: ConversationState) => Entry | null

/** Options of {@link Session.open}. */
export interface SessionOptions {
  log: ConversationLog
  id: string
  /** Who takes the lease: an id that is unique over all processes. */
  owner: string
  leaseMs: number
  /** Whether values have labels. Default false. */
  labelled?: boolean
  /** What is due after these events, if that is only an append: it then goes into the same transaction. */
  followUp?(session: Session, events: readonly ConversationEvent[]): readonly ConversationEvent[]
  /** Handlers of what is appended and streamed here, called one after the other; absent where there are none. */
  tell?(session: Session, event: Foldable): Promise<void>
  /** Called with what is streamed here, after it is folded. */
  onStream?(event: ConversationEvent): void
  /** Called when a handler fails. */
  onHandlerError(session: Session, error: unknown): void
  /** Called when the log has fewer records than this session: the conversation was deleted, or the log was restored. */
  onGone?(session: Session, error: ByrefError): void
}

interface Waiting {
  what: Entry | Decide
  mayAppend?(): boolean
  resolve(records: readonly LogRecord[]): void
  reject(error: unknown): void
}

interface Decided {
  /** Null for what follows from the others. */
  waiting: Waiting | null
  entry: Entry
}

/** Between attempts to read what is missing, in milliseconds: doubled each time, up to a limit. */
const FIRST_PAUSE_MS = 50
const MAX_PAUSE_MS = 5000

/**
 * One conversation that is open in this process: its state, its lease, its appends and its listeners. The state is the
 * fold of its log, and is kept up to date by every append, whoever makes it.
 */
export class Session {
  readonly id: string
  /** What the run in it waits for. */
  readonly activity = new Activity()
  /** The labels of its values; null where trust is off. */
  readonly labels: Labels | null
  readonly lease: LeaseKeeper
  /** The prompts of its steps, once a runner has made them. */
  prompts: StepPrompts | null = null

  readonly #options: SessionOptions
  readonly #fold: Fold
  readonly #values: SessionValues
  readonly #listeners = new Set<(event: Foldable) => void>()
  readonly #queue: Waiting[] = []
  /** Ends when nothing waits to be appended; null while nothing does. */
  #writing: Promise<void> | null = null
  #telling: Promise<void> = Promise.resolve()
  /** The step that began with an append from here and has not been taken. */
  #begunStep: string | null = null
  /** The last position that the log has told of. */
  #end = 0
  #isReading = false
  #isClosed = false
  /** Why nothing can be appended any more: the log has fewer records than this session. */
  #gone: ByrefError | null = null
  /** How far the log's clock is ahead of this process's monotonic clock, by the last append's time. */
  #clock = { timestamp: '', ahead: Date.now() - performance.now() }

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
    this.labels = options.labelled ? createLabels() : null
    this.lease = new LeaseKeeper({
      log,
      owner,
      conversation: id,
      ms: leaseMs,
      activity: this.activity,
    })
    this.#options = options
    this.#values = createSessionValues(() => this.state.messages, this.labels)
    this.#fold = createFold(undefined, { onMessage: this.#values.add })
  }

  /** Changes in place as events come. */
  get state(): ConversationState {
    return this.#fold.state
  }

  /** The data messages, as values. */
  get board(): Board {
    return this.#values.board
  }

  /** The results, by number. */
  get results(): Results {
    return this.#values.results
  }

  /** The open step, where it began here and the model has not been asked yet. */
  get begunStep(): string | null {
    const open = openRun(this.state)?.steps.at(-1)
    return open?.messageId === this.#begunStep ? this.#begunStep : null
  }

  /** Marks that step as asked for. */
  takeStep(): void {
    this.#begunStep = null
  }

  /** The time in milliseconds since 1970 by the log's clock, as far as an append from here has told: a host's own may be wrong. */
  now(): number {
    return this.#clock.ahead + performance.now()
  }

  /**
   * Appends an entry, or what is decided on the state that it will follow; it is decided again where the log is ahead.
   * Appends of the same turn of the event loop share one transaction, and each decides on the state with those before it.
   * Data messages go to the board first: one that breaks its schema throws, and nothing of its entry is logged. Resolves
   * to the records, none where nothing was decided.
   *
   * @param mayAppend Asked when it is written; `false` rejects with RunLostError. Default: it may.
   * @throws what a decision throws; LeaseHeldError; RunLostError; ByrefError `log_failed`, `conversation_not_found` once it is deleted
   */
  append(what: Entry | Decide, mayAppend?: () => boolean): Promise<readonly LogRecord[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly LogRecord[]>()
    this.#queue.push({ what, mayAppend, resolve, reject })
    this.#writing ??= this.#writeAll()
    return promise
  }

  /**
   * Appends what is refused during a run (`conversation_busy`). Where the run is another process's, its end may not be
   * known here yet: the log is asked before the append is refused.
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

  /** Resolves when nothing waits to be appended. */
  async written(): Promise<void> {
    await this.#writing
  }

  /** Tells of an event that is not durable, also those who listen in other processes. */
  stream(event: ConversationEvent): void {
    const { log, onStream } = this.#options
    this.#take({ event })
    onStream?.(event)
    this.#tell({ event })
    log.stream?.(this.id, event)
  }

  /** Takes such an event that another process tells of. */
  hear(event: ConversationEvent): void {
    this.#take({ event })
  }

  /**
   * Listens to every event from now on, in order: records of the log whoever appended them, and what streams here.
   * Returns what ends it.
   */
  watch(listener: (event: Foldable) => void): () => void {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  /** Takes records that the log tells of. */
  receive(records: readonly LogRecord[]): void {
    for (const record of records) {
      if (record.position > this.state.position + 1) {
        this.#end = Math.max(this.#end, record.position)
        if (!this.#isReading) inBackground('Reading a conversation', this.#readToEnd())
        return
      }
      this.#take(record)
    }
  }

  /** Reads what the log has and this session does not know. */
  async refresh(): Promise<void> {
    for await (const record of readAll(this.#options.log, this.id, this.state.position))
      this.#take(record)
  }

  /** Resolves when the handlers of what was appended and streamed so far have ended. */
  told(): Promise<void> {
    return this.#telling
  }

  /** As `told`, also of what is being appended now. */
  async settled(): Promise<void> {
    // A log may tell of an append while it is being begun.
    await null
    await this.#writing
    await this.#telling
  }

  /** Reads no further. */
  close(): void {
    this.#isClosed = true
  }

  #take(event: Foldable): void {
    if (!this.#fold.apply(event)) return
    if (event.position !== undefined) this.labels?.apply(event)
    if (event.event.type === 'MESSAGE_DELETED') this.#values.readAnew()
    for (const listener of this.#listeners) listener(event)
  }

  /** Reads until nothing is missing that the log has told of, however often reading fails. */
  async #readToEnd(): Promise<void> {
    this.#isReading = true
    for (let pause = FIRST_PAUSE_MS; !this.#isClosed && this.state.position < this.#end; ) {
      try {
        await this.refresh()
      } catch {
        // The log is asked again, and what is missing may come with an append before.
      }
      if (this.state.position < this.#end)
        await sleep(Math.min(pause, MAX_PAUSE_MS), null, { ref: false })
      pause *= 2
    }
    this.#isReading = false
  }

  #tell(event: Foldable): void {
    const { tell, onHandlerError } = this.#options
    if (!tell) return
    this.#telling = this.#telling
      .then(() => tell(this, event))
      .catch((error: unknown) => onHandlerError(this, error))
  }

  /** Writes until nothing waits. */
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

  async #write(batch: readonly Waiting[]): Promise<void> {
    for (let left = batch; ; ) {
      const decided = this.#decideAll(left)
      if (decided.length === 0) return
      try {
        this.#settle(decided, await this.#appendAll(decided))
        return
      } catch (error) {
        this.#values.rewind()
        const waiting = decided.flatMap((one) => one.waiting ?? [])
        if (error instanceof LogConflictError) {
          this.receive(error.records)
          left = waiting
        } else if (waiting.length > 1 && storedNothing(error)) {
          // Nothing was stored, and the others are not to blame.
          for (const one of waiting) await this.#write([one])
          return
        } else {
          const reason = asLogError(error)
          if (reason.code === 'conversation_not_found') this.#setGone(reason)
          for (const one of waiting) one.reject(reason)
          return
        }
      }
    }
  }

  #setGone(error: ByrefError): void {
    if (this.#gone) return
    this.#gone = error
    this.#options.onGone?.(this, error)
  }

  #decideAll(batch: readonly Waiting[]): Decided[] {
    const decided: Decided[] = []
    const events: ConversationEvent[] = []
    let ahead: Fold | null = null
    for (const [i, waiting] of batch.entries()) {
      if (typeof waiting.what === 'function' && events.length > 0) {
        ahead = this.#foldAhead(ahead, events)
        if (!ahead) {
          // The log will refuse these events: the others wait for that.
          this.#queue.unshift(...batch.slice(i))
          break
        }
      }
      try {
        const { what, mayAppend } = waiting
        if (this.#gone) throw this.#gone
        if (mayAppend?.() === false) throw new RunLostError()
        const entry = typeof what === 'function' ? what(ahead?.state ?? this.state) : what
        if (!entry || entry.events.length === 0) {
          waiting.resolve([])
          continue
        }
        if (entry.lease === 'keep' && !this.#runsAfter(events)) throw new RunLostError()
        this.#values.expect(entry.events, events)
        decided.push({ waiting, entry })
        events.push(...entry.events)
      } catch (error) {
        waiting.reject(error)
      }
    }
    if (!decided.some(({ entry }) => entry.lease)) return decided
    const more = this.#options.followUp?.(this, events) ?? []
    return more.length === 0 ? decided : [...decided, { waiting: null, entry: { events: more } }]
  }

  /** Whether this session runs the conversation after these events. */
  #runsAfter(events: readonly ConversationEvent[]): boolean {
    const { owner } = this.#options
    const last = events.findLast(
      (event) => event.type === 'RUN_STARTED' || event.type === 'RUN_CLAIMED' || isRunEnd(event),
    )
    return last ? 'owner' in last && last.owner === owner : openRun(this.state)?.owner === owner
  }

  /** The state after events that are not appended yet; null for events that have no valid form. */
  #foldAhead(known: Fold | null, events: readonly ConversationEvent[]): Fold | null {
    const ahead = known ?? createFold(this.state)
    const timestamp = new Date(this.now()).toISOString()
    try {
      for (const event of events.slice(ahead.state.position - this.state.position)) {
        const position = ahead.state.position + 1
        ahead.apply({ v: 1, position, timestamp, event })
      }
      return ahead
    } catch {
      return null
    }
  }

  async #appendAll(decided: readonly Decided[]): Promise<readonly LogRecord[]> {
    const { log, owner, leaseMs } = this.#options
    const events = eventsOf(decided)
    const isLeased = decided.some(({ entry }) => entry.lease)
    // The lease ends with the run, unless something else waits.
    const ms = isLastWord(this.state, events) ? 0 : leaseMs
    const records = await this.activity.during(() =>
      log.append(this.id, events, {
        after: this.state.position,
        lease: isLeased ? { owner, ms } : undefined,
        debug: debugOf(decided),
      }),
    )
    if (isLeased) this.lease.appended({ frees: ms === 0 })
    this.#setClock(records.at(-1)?.timestamp)
    return records
  }

  #setClock(timestamp = this.#clock.timestamp): void {
    // Short steps share a millisecond.
    if (timestamp === this.#clock.timestamp) return
    this.#clock = { timestamp, ahead: Date.parse(timestamp) - performance.now() }
  }

  #settle(decided: readonly Decided[], records: readonly LogRecord[]): void {
    this.receive(records)
    let start = 0
    for (const { waiting, entry } of decided) {
      const own = records.slice(start, start + entry.events.length)
      start += entry.events.length
      for (const [i, record] of own.entries()) {
        const event = entry.events[i] as ConversationEvent
        if (event.type === 'STEP_STARTED') this.#begunStep = event.messageId
        // An ASSET_CREATED as it came: it gives its bytes on demand, which the log's copy does not.
        this.#tell(event.type === 'ASSET_CREATED' ? { ...record, event } : record)
      }
      waiting?.resolve(own)
    }
  }
}

/** Resolves when everything that could go on by itself has: what it appended is in the queue. */
function allHaveAppended(): Promise<void> {
  return new Promise((resolve) => {
    process.nextTick(resolve)
  })
}

function eventsOf(decided: readonly Decided[]): readonly ConversationEvent[] {
  const [first] = decided
  if (decided.length === 1 && first) return first.entry.events
  return decided.flatMap(({ entry }) => entry.events)
}

function debugOf(decided: readonly Decided[]): Record<string, unknown> | undefined {
  const given = decided.flatMap(({ entry }) => entry.debug ?? [])
  return given.length > 0 ? Object.assign({}, ...given) : undefined
}

/** Whether these events end the run, and nothing waits for another. */
function isLastWord({ inbox }: ConversationState, events: readonly ConversationEvent[]): boolean {
  if (!isRunEnd(events.at(-1)) || inbox.length > 0) return false
  return !events.some((event) => event.type === 'NEW_MESSAGE' && event.deliver !== undefined)
}

/** Whether an error of the log says that it refused an append and stored nothing. */
function storedNothing(error: unknown): boolean {
  return (
    error instanceof LeaseHeldError ||
    error instanceof TypeError ||
    (error instanceof ByrefError && error.code === 'bad_request')
  )
}

/** A log of somebody's own may throw anything. */
function asLogError(error: unknown): ByrefError {
  if (error instanceof ByrefError) return error
  return new ByrefError('log_failed', `The conversation's log failed: ${errorMessage(error)}`, {
    cause: error,
  })
}
