import type { LogRecord } from '../../core/events/events.ts'
import type { Database, Query } from '../../postgres/database.ts'
import { type ConversationQueue, LogConflictError } from '../conversation-log.ts'
import type { TimedRow } from '../conversation-query.ts'
import { leaseOf, type Place, stateColumns, stateOf } from '../conversation-row.ts'
import { recordsAfter } from '../copy-event.ts'
import { type Appendix, admit, leaseAfter, type TextAppendix } from '../log-storage.ts'
import {
  type ConversationState,
  deletedBy,
  isDue,
  stateAfter,
  withoutMessages,
} from '../summary.ts'
import { appendBehind, appendNothing } from './append-statement.ts'
import { createRow, lockRow } from './conversation-rows.ts'
import { deleteMessages, readRecords, titleIn } from './postgres-records.ts'

/** The state of a conversation at a position. */
export interface Known {
  key: number
  position: number
  state: ConversationState
}

/** The records that an append stored, and the state after them. */
export interface Appended {
  records: LogRecord[]
  known: Known
}

/** Appends in one statement, if the known state is enough; otherwise null. */
export async function appendAtOnce(
  query: Query,
  known: Known,
  { appendix, queue }: { appendix: TextAppendix; queue: ConversationQueue | undefined },
): Promise<Appended | null> {
  const { events, lease } = appendix
  if (events.length === 0 || deletedBy(events).length > 0) return null
  const after = stateAfter(known.state, events, AT_COMMIT)
  if (queue && isDue(after.state) && !lease?.ms) return null
  const now = await appendBehind(query, known, { ...appendix, ...after })
  return now === null ? null : appended(known, { events, now, state: after.state })
}

/** The database sets the time. */
const AT_COMMIT = Number.NaN

/** Appends in a transaction that locks the conversation, or throws the reason why it may not. */
export async function appendInTransaction(
  { transaction, query }: Database,
  place: Place,
  { appendix, queue }: { appendix: TextAppendix; queue: ConversationQueue | undefined },
): Promise<Appended> {
  const { events, lease, after } = appendix
  const appendedNow = await transaction(async (inside) => {
    const row = await admitted(inside, place, appendix)
    if (row === 'behind') return null
    const known: Known = { key: row.key, position: row.position, state: stateOf(row) }
    let result: Appended = { records: [], known }
    if (events.length === 0) await appendNothing(inside, row.key, appendix)
    else {
      const next = stateAfter(known.state, events, AT_COMMIT)
      const now = await appendBehind(inside, known, { ...appendix, ...next })
      if (now === null) throw new Error('A locked conversation changed')
      result = appended(known, {
        events,
        now,
        state: await withDeletions(inside, row, { events, state: next.state }),
      })
    }
    const held = leaseAfter(leaseOf(row), lease, row.now)
    if (queue && !(held && held.until > row.now)) {
      await enqueueDue(inside, queue, {
        place,
        state: result.known.state,
        isGivenBack: lease !== undefined,
      })
    }
    return result
  })
  if (appendedNow) return appendedNow
  // Outside of the transaction: an unreadable record ends it, and reading finds out which one it is.
  const missed = await readRecords(query, place, { after: after ?? 0, limit: null })
  throw new LogConflictError(place.id, missed)
}

/**
 * Enqueues a conversation that is due. It is not enqueued if a runner gives it back while an approval is missing,
 * because only a person can continue it.
 */
export async function enqueueDue(
  query: Query,
  queue: ConversationQueue,
  about: { place: Place; state: ConversationState; isGivenBack: boolean },
): Promise<void> {
  const { place, state, isGivenBack } = about
  if (!isDue(state) || (isGivenBack && state.approvals.length > 0)) return
  const { namespace, id } = place
  const { agent } = state
  await queue.enqueue(query, { conversation: id, namespace: namespace || null, agent })
}

function appended(
  { key, position }: Known,
  { events, now, state }: Pick<Appendix, 'events'> & { now: number; state: ConversationState },
): Appended {
  const records = recordsAfter(position, events, now)
  return { records, known: { key, position: position + records.length, state } }
}

/**
 * Returns the locked row for an append that may pass. Creates it if there is none. `behind`: the log is ahead of the writer.
 */
async function admitted(
  query: Query,
  place: Place,
  { after, lease }: Pick<Appendix, 'after' | 'lease'>,
): Promise<TimedRow | 'behind'> {
  for (;;) {
    const row = await lockRow(query, place)
    if (row !== null && after !== undefined && after < row.position) return 'behind'
    admit(place.id, row && { position: row.position, lease: leaseOf(row) }, {
      after,
      lease,
      now: row?.now ?? 0,
      missed: () => [],
    })
    const found = row ?? (await createRow(query, place))
    if (found) return found
  }
}

/** Returns the state after stored events, which may have deleted messages. */
async function withDeletions(
  query: Query,
  row: TimedRow,
  { events, state }: { events: Appendix['events']; state: ConversationState },
): Promise<ConversationState> {
  const ids = deletedBy(events)
  if (ids.length === 0) return state
  const deleted = await deleteMessages(query, row.key, ids)
  const left = withoutMessages(state, { deleted, title: await titleIn(query, row.key) })
  const [text] = stateColumns(left)
  await query('UPDATE byref.conversations SET state = $2 WHERE key = $1', [row.key, text])
  return left
}
