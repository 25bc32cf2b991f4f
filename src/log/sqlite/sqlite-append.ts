import { DamagedError } from '../../core/errors.ts'
import type { ConversationEvent, LogRecord } from '../../core/events/events.ts'
import { isCorrupt } from '../../sqlite/sqlite-errors.ts'
import {
  type ConversationRow,
  leaseOf,
  type Place,
  stateColumns,
  stateOf,
} from '../conversation-row.ts'
import { recordsAfter } from '../copy-event.ts'
import { admit, leaseAfter, type StoredLease, type TextAppendix } from '../log-storage.ts'
import { eventSum, type RecordRow, recordsOf, seal } from '../record-rows.ts'
import { RUN_COLUMNS, rowOfRun } from '../run-rows.ts'
import type { StoredRun } from '../runs.ts'
import {
  type ConversationState,
  deletedBy,
  foldCase,
  messageIn,
  stateAfter,
  withoutMessages,
} from '../summary.ts'
import { deleteMessages, titleIn } from './delete-messages.ts'
import { rowOf, rowsOf, type Statements } from './statements.ts'

/** Appends in a transaction, or throws the reason why it may not before it writes anything. */
export function sqliteAppend(
  sql: Statements,
  place: Place,
  { events, texts, debug, ...options }: TextAppendix,
): LogRecord[] {
  const now = Date.now()
  const before = findRow(sql, place)
  const lease = before && leaseOf(before)
  admit(place.id, before && { position: before.position, lease }, {
    ...options,
    now,
    missed: (after) => (before ? readRecords(sql, before, { after, limit: Infinity }) : []),
  })
  const row = before ?? createRow(sql, place, now)
  const records = recordsAfter(row.position, events, now)
  for (const [i, { position, event }] of records.entries()) {
    const text = texts[i] ?? ''
    sql.insert.run(row.key, position, now, text, eventSum(position, text) + now, messageIn(event))
  }
  for (const [message, value] of debug) sql.putDebug.run(row.key, message, seal(value))
  update(sql, row, { events, now, lease: leaseAfter(lease, options.lease, now) })
  return records
}

/** Returns the row of a conversation, or null. */
export function findRow(sql: Statements, { namespace, id }: Place): ConversationRow | null {
  return rowOf<ConversationRow>(sql.find.get(namespace, id))
}

/** Creates the row of a conversation. */
export function createRow(sql: Statements, place: Place, now: number): ConversationRow {
  sql.create.run(place.namespace, place.id, now, now)
  return findRow(sql, place) as ConversationRow
}

function update(
  sql: Statements,
  row: ConversationRow,
  change: { events: readonly ConversationEvent[]; now: number; lease: StoredLease | null },
): void {
  const { events, lease } = change
  const owner = [lease?.owner ?? null, lease?.until ?? null] as const
  if (events.length === 0) {
    sql.lease.run(...owner, row.key)
    return
  }
  const state = stateWith(sql, row, change)
  const end = row.position + events.length
  sql.update.run(change.now, end, ...stateColumns(state), ...owner, row.key)
  if (row.name === null && state.title !== row.title) indexTitle(sql, row.key, state.title)
}

/** Returns the state after stored events, and stores the runs that they change. */
function stateWith(
  sql: Statements,
  row: ConversationRow,
  { events, now: at }: { events: readonly ConversationEvent[]; now: number },
): ConversationState {
  const { state, runs } = stateAfter(stateOf(row), events, at)
  putRuns(sql, row, runs)
  const ids = deletedBy(events)
  if (ids.length === 0) return state
  const deleted = deleteMessages(sql, row.key, ids)
  return withoutMessages(state, { deleted, title: titleIn(sql, row.key) })
}

/** Stores runs of a conversation. */
export function putRuns(
  sql: Statements,
  { key, namespace }: Pick<ConversationRow, 'key' | 'namespace'>,
  runs: readonly StoredRun[],
): void {
  for (const run of runs) {
    const row = rowOfRun(run)
    sql.putRun.run(key, namespace, ...RUN_COLUMNS.map((column) => row[column]))
  }
}

/** Indexes the title of a conversation. */
export function indexTitle(sql: Statements, key: number, title: string | null): void {
  sql.unindex.run(2 * key + 1)
  if (title !== null) sql.index.run(2 * key + 1, foldCase(title))
}

/** Records of a conversation after a position; `limit` Infinity for all. @throws DamagedError */
export function readRecords(
  sql: Statements,
  { key, id, position: end }: Pick<ConversationRow, 'key' | 'id' | 'position'>,
  { after, limit }: { after: number; limit: number },
): LogRecord[] {
  const most = Number.isSafeInteger(limit) ? limit : -1
  try {
    const rows = rowsOf<RecordRow>(sql.read.all(key, after, most))
    return recordsOf(rows, id, { after, end, limit })
  } catch (cause) {
    if (!isCorrupt(cause)) throw cause
    // Reading the records one by one finds the damaged one.
    for (let one = after; most !== 1 && one < end; one++) {
      readRecords(sql, { key, id, position: end }, { after: one, limit: 1 })
    }
    const reason = `its page of the file is damaged (${cause.errstr})`
    throw new DamagedError(id, { position: after + 1, reason }, { cause })
  }
}
