import { loadValidator } from '../boundary/validate.ts'
import type { Board } from '../core/board/board.ts'
import { ByrefError, errorMessage } from '../core/errors.ts'
import type { ConversationState } from '../core/events/conversation-state.ts'
import type { ConversationEvent, LogRecord } from '../core/events/events.ts'
import { createFold, type Foldable } from '../core/events/fold.ts'
import { inBackground } from '../core/in-background.ts'
import { createLabels, type Labels } from '../core/labels/labels.ts'
import type { Results } from '../core/messages/results.ts'
import {
  type ConversationLog,
  type Lease,
  LogConflictError,
  readAll,
} from '../log/conversation-log.ts'
import { nodeBuiltin } from '../node-builtin.ts'
import { Activity } from './activity.ts'
import { createSessionValues } from './session-values.ts'

const { setTimeout: sleep } = nodeBuiltin('node:timers/promises')

/** What one writer appends, with debug data by message id. */
export interface Entry {
  events: readonly ConversationEvent[]
  debug?: Readonly<Record<string, unknown>>
  /** Of whoever runs the conversation. */
  lease?: Lease
}

/**
 * Decides what to append, given the state that it will follow and the events that go before it in the same append;
 * called again when the log turns out to be ahead. Null is nothing; what it throws is the writer's.
 */
export type Decide = (
  state: ConversationState,
  before: readonly ConversationEvent[],
) => Entry | null

/** Options of {@link Session.append}. */
export interface SessionAppendOptions {
  /** May share an append with others of its kind: it decides nothing that they could change. */
  joins?: boolean
  /** Goes with the next append, or at the next turn of the event loop if none comes until then. */
  patient?: boolean
}

/** A conversation as this process knows it: the fold of its log, kept up to date by every append, whoever made it. */
export interface Session {
  readonly id: string
  /** Changes in place as events come. */
  readonly state: ConversationState
  /** The data messages among them, as values. */
  readonly board: Board
  /** The results among them, by number. */
  readonly results: Results
  /** What the run in it waits for. */
  readonly activity: Activity
  /** The labels of what is in it; null where trust is off. */
  readonly labels: Labels | null
  /**
   * Appends behind what is known, and decides again where the log is ahead. Data messages go to the board first: one
   * that breaks its schema throws, and nothing is logged. Resolves to the records, none where nothing was decided.
   *
   * @throws what `decide` throws; LeaseHeldError; ByrefError `log_failed`, `conversation_not_found` once it is deleted
   */
  append(decide: Decide, options?: SessionAppendOptions): Promise<readonly LogRecord[]>
  /** Tells of an event that is not durable, also those who watch in other processes. */
  stream(event: ConversationEvent): void
  /** Takes such an event that another process tells of. */
  hear(event: ConversationEvent): void
  /** Hears of every event from now on, in order: records of the log whoever appended them, and what streams here. */
  watch(listener: (event: Foldable) => void): () => void
  /** Takes records that the log tells of. */
  receive(records: readonly LogRecord[]): void
  /** Reads what the log has and this does not know. */
  refresh(): Promise<void>
  /** The time in milliseconds since 1970 by the log's clock, as far as an append from here has told: a host's own may be wrong. */
  now(): number
  /** Resolves when the handlers of what was appended and streamed so far have ended. */
  told(): Promise<void>
  /** As `told`, also of what is being appended now. */
  settled(): Promise<void>
  /** Resolves when nothing waits to be appended. */
  written(): Promise<void>
  /** Reads no further. */
  close(): void
}

/** What a session needs. */
export interface SessionOptions {
  log: ConversationLog
  id: string
  /** Whether values have labels. Default false. */
  labelled?: boolean
  /** Handlers of what is appended and streamed here, called one after the other; absent where there are none. */
  tell?(event: Foldable): Promise<void>
  /** Hears of what is streamed here, when it is folded. */
  onStream?(event: ConversationEvent): void
  /** Hears of a handler that failed. */
  onHandlerError(error: unknown): void
}

interface Waiting extends SessionAppendOptions {
  decide: Decide
  resolve(records: readonly LogRecord[]): void
  reject(error: unknown): void
}

interface Decided {
  waiting: Waiting
  entry: Entry
}

/** Between attempts to read what is missing, in milliseconds: doubled each time, up to a second one. */
const FIRST_PAUSE_MS = 50
const MAX_PAUSE_MS = 5000

/** Reads a conversation from its log. */
export async function openSession(options: SessionOptions): Promise<Session> {
  const { log, id, tell, onStream, onHandlerError, labelled = false } = options
  await loadValidator()
  const watchers = new Set<(event: Foldable) => void>()
  const queue: Waiting[] = []
  const labels = labelled ? createLabels() : null
  const values = createSessionValues(() => folding.state.messages, labels)
  const folding = createFold(undefined, { onMessage: values.add })
  const { state } = folding
  /** Ends when nothing waits; null while nothing does. */
  let writing: Promise<void> | null = null
  /** Ends the wait for the next turn of the event loop. */
  let hurry = (): void => {}
  let telling: Promise<void> = Promise.resolve()
  /** The last position that the log has told of. */
  let end = 0
  let isReading = false
  let isClosed = false
  /** How far the log's clock is ahead of this process's steady one, by the last append's time. */
  let clock = { timestamp: '', ahead: Date.now() - performance.now() }
  const activity = new Activity()

  function take(event: Foldable): void {
    if (!folding.apply(event)) return
    if (labels && event.position !== undefined) labels.apply(event)
    if (event.event.type === 'MESSAGE_DELETED') values.readAnew()
    for (const watcher of watchers) watcher(event)
  }

  function receive(records: readonly LogRecord[]): void {
    for (const record of records) {
      if (record.position > state.position + 1) {
        end = Math.max(end, record.position)
        if (!isReading) inBackground('Reading a conversation', readToEnd())
        return
      }
      take(record)
    }
  }

  async function catchUp(): Promise<void> {
    for await (const record of readAll(log, id, state.position)) take(record)
  }

  /** Reads until nothing is missing that the log has told of, however often reading fails. */
  async function readToEnd(): Promise<void> {
    isReading = true
    for (let pause = FIRST_PAUSE_MS; !isClosed && state.position < end; pause *= 2) {
      try {
        await catchUp()
      } catch {
        // The log is asked again, and what is missing may come with an append before.
      }
      if (state.position < end) await sleep(Math.min(pause, MAX_PAUSE_MS), null, { ref: false })
    }
    isReading = false
  }

  function tellOf(event: Foldable): void {
    if (tell) telling = telling.then(() => tell(event)).catch(onHandlerError)
  }

  function decideAll(batch: readonly Waiting[]): Decided[] {
    const decided: Decided[] = []
    const before: ConversationEvent[] = []
    for (const waiting of batch) {
      try {
        const entry = waiting.decide(state, before)
        if (!entry || entry.events.length === 0) {
          waiting.resolve([])
          continue
        }
        values.expect(entry.events, before)
        decided.push({ waiting, entry })
        before.push(...entry.events)
      } catch (error) {
        waiting.reject(error)
      }
    }
    return decided
  }

  async function write(batch: readonly Waiting[]): Promise<void> {
    for (let left = batch; ; ) {
      const decided = decideAll(left)
      if (decided.length === 0) return
      try {
        const records = await activity.during(() =>
          log.append(id, eventsOf(decided), {
            after: state.position,
            lease: decided.findLast(({ entry }) => entry.lease)?.entry.lease,
            debug: debugOf(decided),
          }),
        )
        setClock(records.at(-1)?.timestamp)
        receive(records)
        settle(decided, records)
        return
      } catch (error) {
        values.rewind()
        if (error instanceof LogConflictError) {
          receive(error.records)
          left = decided.map(({ waiting }) => waiting)
          continue
        }
        for (const { waiting } of decided) waiting.reject(asLogError(error))
        return
      }
    }
  }

  function setClock(timestamp = clock.timestamp): void {
    // Short steps share a millisecond.
    if (timestamp === clock.timestamp) return
    clock = { timestamp, ahead: Date.parse(timestamp) - performance.now() }
  }

  function settle(decided: readonly Decided[], records: readonly LogRecord[]): void {
    let start = 0
    for (const { waiting, entry } of decided) {
      const own = records.slice(start, start + entry.events.length)
      start += entry.events.length
      for (const [i, record] of tell ? own.entries() : []) {
        // An ASSET_CREATED as it came: it gives its bytes on demand, which the log's copy does not.
        const event = entry.events[i] as ConversationEvent
        tellOf(event.type === 'ASSET_CREATED' ? { ...record, event } : record)
      }
      waiting.resolve(own)
    }
  }

  /**
   * Writes until nothing waits. It is under way whenever something waits, so that no append depends on a timer that is
   * set for it. Where all appends are patient, it waits for the next turn of the event loop, or for one that is not.
   */
  async function writeAll(): Promise<void> {
    try {
      while (queue.length > 0) {
        if (queue.every(({ patient }) => patient)) await nextTurnOrAppend()
        const alone = queue[0]?.joins ? queue.findIndex(({ joins }) => !joins) : 1
        await write(queue.splice(0, alone === -1 ? queue.length : alone))
      }
    } finally {
      writing = null
    }
  }

  function nextTurnOrAppend(): Promise<void> {
    return new Promise((resolve) => {
      hurry = resolve
      setImmediate(resolve)
    })
  }

  await catchUp()
  return {
    id,
    state,
    labels,
    activity,
    get results() {
      return values.results
    },
    get board() {
      return values.board
    },
    append(decide, { joins, patient } = {}) {
      const { promise, resolve, reject } = Promise.withResolvers<readonly LogRecord[]>()
      queue.push({ decide, joins, patient, resolve, reject })
      if (!patient) hurry()
      writing ??= writeAll()
      return promise
    },
    stream(event) {
      take({ event })
      onStream?.(event)
      tellOf({ event })
      log.stream?.(id, event)
    },
    hear: (event) => take({ event }),
    watch(listener) {
      watchers.add(listener)
      return () => {
        watchers.delete(listener)
      }
    },
    receive,
    refresh: catchUp,
    now: () => clock.ahead + performance.now(),
    close() {
      isClosed = true
    },
    async written() {
      await writing
    },
    told: () => telling,
    async settled() {
      // A log may tell of an append while it is being begun.
      await null
      await writing
      await telling
    },
  }
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

/** A log of somebody's own may throw anything. */
function asLogError(error: unknown): ByrefError {
  if (error instanceof ByrefError) return error
  return new ByrefError('log_failed', `The conversation's log failed: ${errorMessage(error)}`, {
    cause: error,
  })
}
