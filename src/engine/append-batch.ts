import { ByrefError } from '../core/errors.ts'
import { type ConversationState, isRunEnd, openRun } from '../core/events/conversation-state.ts'
import type { ConversationEvent, LogRecord } from '../core/events/events.ts'
import { createFold, type Fold } from '../core/events/fold.ts'
import { LeaseHeldError } from '../log/conversation-log.ts'
import { RunLostError } from './run-errors.ts'
import type { SessionValues } from './session-values.ts'

/** Events that one writer appends together, with debug data by message id. */
export interface Entry {
  events: readonly ConversationEvent[]
  debug?: Readonly<Record<string, unknown>>
  /**
   * Set by the process that runs the conversation. `take` takes the lease. `keep` renews it, and rejects with
   * RunLostError if this session does not run the conversation.
   */
  lease?: 'take' | 'keep'
  /** With `keep`: the run that the events belong to. Rejects with RunLostError if it is not the open run. */
  runId?: string
}

/**
 * Decides what to append to a given state. It is called again if the log turns out to be ahead. Null appends
 * nothing. An error that it throws rejects only its own append.
 */
export type Decide = (state: ConversationState) => Entry | null

/** An append that waits for its transaction. */
export interface PendingAppend {
  entryOrDecide: Entry | Decide
  mayAppend?(): boolean
  resolve(records: readonly LogRecord[]): void
  reject(error: unknown): void
}

/** An entry that is ready for the log. */
export interface DecidedAppend {
  /** Null for events that `followUp` added. */
  pending: PendingAppend | null
  entry: Entry
}

/** What a batch is decided with. */
export interface BatchContext {
  /** The state before the batch. */
  state: ConversationState
  /** The time of the new events, in ISO 8601. */
  timestamp: string
  /** The owner of this process's leases. */
  owner: string
  /** Checks data messages against their schemas, and puts them on the board. */
  values: Pick<SessionValues, 'putAhead'>
  /** Returns events that must follow these in the same transaction. */
  followUp(events: readonly ConversationEvent[]): readonly ConversationEvent[]
}

/** The entries of a batch that share one transaction, and the appends that must wait for its result. */
export interface DecidedBatch {
  decided: DecidedAppend[]
  undecided: readonly PendingAppend[]
}

/**
 * Decides on a batch of appends, in order. Each decision sees the state after the entries before it. An append that
 * may not be written, or whose decision fails, is rejected. One that decides for nothing resolves to no records.
 */
export function decideBatch(batch: readonly PendingAppend[], context: BatchContext): DecidedBatch {
  const decided: DecidedAppend[] = []
  const events: ConversationEvent[] = []
  let ahead: Fold | null = null
  for (const [i, pending] of batch.entries()) {
    if (typeof pending.entryOrDecide === 'function' && events.length > 0) {
      ahead = foldAhead(ahead, events, context)
      // The log will reject these events. The rest of the batch must decide after that.
      if (!ahead)
        return { decided: withFollowUp(decided, events, context), undecided: batch.slice(i) }
    }
    try {
      const entry = decide(pending, ahead?.state ?? context.state)
      if (!entry || entry.events.length === 0) {
        pending.resolve([])
        continue
      }
      if (entry.lease === 'keep') checkRun(entry.runId, events, context)
      context.values.putAhead(entry.events, events)
      decided.push({ pending, entry })
      // Not with a spread, because an append may have more events than a call may have arguments.
      for (const event of entry.events) events.push(event)
    } catch (error) {
      pending.reject(error)
    }
  }
  return { decided: withFollowUp(decided, events, context), undecided: [] }
}

/** @throws RunLostError; any error of the decision */
function decide(
  { entryOrDecide, mayAppend }: PendingAppend,
  state: ConversationState,
): Entry | null {
  if (mayAppend?.() === false) throw new RunLostError()
  return typeof entryOrDecide === 'function' ? entryOrDecide(state) : entryOrDecide
}

/** Returns the state with events that are not appended yet; null if an event is invalid. */
function foldAhead(
  previous: Fold | null,
  events: readonly ConversationEvent[],
  { state, timestamp }: BatchContext,
): Fold | null {
  const ahead = previous ?? createFold(state)
  try {
    for (const event of events.slice(ahead.state.position - state.position)) {
      ahead.apply({ v: 1, position: ahead.state.position + 1, timestamp, event })
    }
    return ahead
  } catch {
    return null
  }
}

/**
 * Checks that this process owns the open run once these events are appended, and that it is this run.
 *
 * @throws RunLostError
 */
function checkRun(
  runId: string | undefined,
  events: readonly ConversationEvent[],
  { state, owner }: BatchContext,
): void {
  const last = events.findLast(
    (event) => event.type === 'RUN_STARTED' || event.type === 'RUN_CLAIMED' || isRunEnd(event),
  )
  const open = last ?? openRun(state)
  if (!open || !('owner' in open) || (runId !== undefined && open.runId !== runId)) {
    throw new RunLostError({ continues: false })
  }
  if (open.owner !== owner) throw new RunLostError()
}

function withFollowUp(
  decided: DecidedAppend[],
  events: readonly ConversationEvent[],
  { followUp }: BatchContext,
): DecidedAppend[] {
  if (!decided.some(({ entry }) => entry.lease)) return decided
  try {
    const next = followUp(events)
    if (next.length > 0) decided.push({ pending: null, entry: { events: next } })
  } catch {
    // An event may be invalid: then the log rejects it. Otherwise the runner decides what follows.
  }
  return decided
}

/** Joins entries into one, for one transaction. */
export function joinEntries(decided: readonly DecidedAppend[]): Entry {
  const [first] = decided
  if (decided.length === 1 && first) return first.entry
  const debug = decided.flatMap(({ entry }) => entry.debug ?? [])
  return {
    events: decided.flatMap(({ entry }) => entry.events),
    debug: debug.length > 0 ? Object.assign({}, ...debug) : undefined,
    lease: decided.find(({ entry }) => entry.lease)?.entry.lease,
  }
}

/** Whether these events end the run, and no message is queued. */
export function becomesIdle(
  { inbox }: ConversationState,
  events: readonly ConversationEvent[],
): boolean {
  if (!isRunEnd(events.at(-1)) || inbox.length > 0) return false
  return !events.some((event) => event.type === 'NEW_MESSAGE' && event.deliver !== undefined)
}

/** Whether an error of the log means that it rejected an append and stored nothing. */
export function isRejected(error: unknown): boolean {
  return (
    error instanceof LeaseHeldError ||
    error instanceof TypeError ||
    (error instanceof ByrefError && error.code === 'bad_request')
  )
}
