import type { LogRecord } from '../../core/events/events.ts'
import type { Database, Query } from '../../postgres/database.ts'
import { type ConversationQueue, LogConflictError } from '../conversation-log.ts'
import type { TimedRow } from '../conversation-query.ts'
import { leaseOf, type Place, stateColumns, stateOf } from '../conversation-row.ts'
import { recordsAfter } from '../log-entry.ts'
import { type AppendInput, checkAppend, leaseAfter, type TextAppendInput } from '../log-storage.ts'
import { deletedBy, isDue, type SummaryState, stateAfter, withoutMessages } from '../summary.ts'
import { appendAfter, storeLeaseAndDebug } from './append-statement.ts'
import { createRow, lockRow } from './conversation-rows.ts'
import { deleteMessages, readRecords } from './postgres-records.ts'

/** The state of a conversation at a position. */
export interface Known {
  key: number
  position: number
  state: SummaryState
}

/** The records that an append stored, and the state after them. */
export interface Appended {
  records: LogRecord[]
  known: Known
}

/** Appends in one statement, if the known state is current. Returns null otherwise. */
export async function appendAtOnce(
  query: Query,
  known: Known,
  { input, queue }: { input: TextAppendInput; queue: ConversationQueue | undefined },
): Promise<Appended | null> {
  const { events, lease } = input
  if (events.length === 0 || deletedBy(events).length > 0) return null
  const after = stateAfter(known.state, events, AT_COMMIT)
  if (queue && isDue(after.state) && !lease?.ms) return null
  const now = await appendAfter(query, known, { ...input, ...after })
  return now === null ? null : appended(known, { events, now, state: after.state })
}

/** The database sets the time. */
const AT_COMMIT = Number.NaN

/** Appends in a transaction that locks the conversation, or throws the reason why the append is rejected. */
export async function appendInTransaction(
  { transaction, query }: Database,
  place: Place,
  { input, queue }: { input: TextAppendInput; queue: ConversationQueue | undefined },
): Promise<Appended> {
  const { events, lease, after } = input
  const appendedNow = await transaction(async (inside) => {
    const row = await lockedRow(inside, place, input)
    if (row === 'outdated') return null
    const known: Known = { key: row.key, position: row.position, state: stateOf(row) }
    let result: Appended = { records: [], known }
    if (events.length === 0) await storeLeaseAndDebug(inside, row.key, input)
    else {
      const next = stateAfter(known.state, events, AT_COMMIT)
      const now = await appendAfter(inside, known, { ...input, ...next })
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
        isReleased: lease !== undefined,
      })
    }
    return result
  })
  if (appendedNow) return appendedNow
  // Outside of the transaction, because an unreadable record would end it. Reading finds out which one it is.
  const missed = await readRecords(query, place, { after: after ?? 0, limit: null })
  throw new LogConflictError(place.id, missed)
}

/**
 * Enqueues a conversation that is due. If a runner releases it while an approval is missing, it is not enqueued,
 * because only a person can continue it.
 */
export async function enqueueDue(
  query: Query,
  queue: ConversationQueue,
  about: { place: Place; state: SummaryState; isReleased: boolean },
): Promise<void> {
  const { place, state, isReleased } = about
  if (!isDue(state) || (isReleased && state.approvals.length > 0)) return
  const { namespace, id } = place
  const { agent } = state
  await queue.enqueue(query, { conversation: id, namespace: namespace || null, agent })
}

function appended(
  { key, position }: Known,
  { events, now, state }: Pick<AppendInput, 'events'> & { now: number; state: SummaryState },
): Appended {
  const records = recordsAfter(position, events, now)
  return { records, known: { key, position: position + records.length, state } }
}

/**
 * Checks whether an append is allowed, and returns the locked row. Creates the row if there is none. `outdated`: the log
 * is ahead of the writer.
 */
async function lockedRow(
  query: Query,
  place: Place,
  { after, lease }: Pick<AppendInput, 'after' | 'lease'>,
): Promise<TimedRow | 'outdated'> {
  for (;;) {
    const row = await lockRow(query, place)
    if (row !== null && after !== undefined && after < row.position) return 'outdated'
    checkAppend(place.id, row && { position: row.position, lease: leaseOf(row) }, {
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
  { events, state }: { events: AppendInput['events']; state: SummaryState },
): Promise<SummaryState> {
  const ids = deletedBy(events)
  if (ids.length === 0) return state
  const left = withoutMessages(state, await deleteMessages(query, row.key, ids))
  const [text] = stateColumns(left)
  await query('UPDATE byref.conversations SET state = $2 WHERE key = $1', [row.key, text])
  return left
}
