import { DamagedError } from '../../core/errors.ts'
import type { ConversationEvent, LogRecord } from '../../core/events/events.ts'
import { isCorrupt } from '../../sqlite/sqlite-errors.ts'
import { eventSum, seal } from '../checksums.ts'
import {
  type ConversationRow,
  leaseOf,
  type Place,
  stateColumns,
  stateOf,
} from '../conversation-row.ts'
import { recordsAfter } from '../log-entry.ts'
import { checkAppend, leaseAfter, type TextAppendInput } from '../log-storage.ts'
import { CHUNK, pause } from '../pause.ts'
import { eventIn, type RecordRow, recordsOf } from '../record-rows.ts'
import { RUN_COLUMNS, rowOfRun } from '../run-rows.ts'
import type { StoredRun } from '../runs.ts'
import {
  type DeletedMessages,
  deletedBy,
  foldCase,
  messageIn,
  type StoredLease,
  stateAfter,
  titleOf,
  withoutMessages,
} from '../summary.ts'
import { type LogConnection, rowsOf, type Statements } from './statements.ts'

/** Appends in a transaction. If the append is rejected, throws the reason before it writes anything. */
export function sqliteAppend(
  sql: Statements,
  place: Place,
  { events, texts, debug, ...options }: TextAppendInput,
): LogRecord[] {
  const now = Date.now()
  const before = findRow(sql, place)
  const lease = before && leaseOf(before)
  checkAppend(place.id, before && { position: before.position, lease }, {
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
  return (sql.find.get(namespace, id) as ConversationRow | undefined) ?? null
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
  const { events, now, lease } = change
  const owner = [lease?.owner ?? null, lease?.until ?? null] as const
  if (events.length === 0) {
    sql.lease.run(...owner, row.key)
    return
  }
  const before = stateOf(row)
  const { state: after, runs } = stateAfter(before, events, now)
  putRuns(sql, row, runs)
  const ids = deletedBy(events)
  const state = ids.length > 0 ? withoutMessages(after, deleteMessages(sql, row.key, ids)) : after
  const end = row.position + events.length
  sql.update.run(now, end, ...stateColumns(state), ...owner, row.key)
  if (row.name === null && state.title !== before.title) indexTitle(sql, row.key, state.title)
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

/** Returns the records of a conversation after a position. `limit` Infinity means all. @throws DamagedError */
export function readRecords(
  sql: Statements,
  { key, id, position: end }: Pick<ConversationRow, 'key' | 'id' | 'position'>,
  { after, limit }: { after: number; limit: number },
): LogRecord[] {
  const max = Number.isSafeInteger(limit) ? limit : -1
  try {
    const rows = rowsOf<RecordRow>(sql.read.all(key, after, max))
    return recordsOf(rows, id, { after, end, limit })
  } catch (cause) {
    if (!isCorrupt(cause)) throw cause
    // Reading the records one by one finds the damaged one.
    for (let position = after; max !== 1 && position < end; position++) {
      readRecords(sql, { key, id, position: end }, { after: position, limit: 1 })
    }
    const reason = `its page of the file is damaged (${cause.errstr})`
    throw new DamagedError(id, { position: after + 1, reason }, { cause })
  }
}

/** Removes messages from lists and searches, and their debug data, in a transaction. Their records stay. */
export function deleteMessages(
  sql: Statements,
  key: number,
  ids: readonly string[],
): DeletedMessages {
  let deleted = 0
  for (const messageId of new Set(ids)) {
    for (const { id, event } of sql.ofMessage.all(key, messageId)) {
      // SQLite changes text that is not valid Unicode, so the id in the event decides.
      const found = eventIn(event)
      if (!found || messageIn(found) !== messageId) continue
      deleted += Number(sql.markDeleted.run(id as number).changes)
      sql.unindex.run(2 * Number(id))
      sql.removeDebugOf.run(key, messageId)
    }
  }
  return { deleted, title: titleIn(sql, key) }
}

/** Returns the ids of the deleted messages. */
export function deletedIn(sql: Statements, key: number): string[] {
  return sql.deleted.all(key).flatMap(({ event }) => {
    const found = eventIn(event)
    return (found && messageIn(found)) ?? []
  })
}

/** Returns the title from the remaining messages. */
function titleIn(sql: Statements, key: number): string | null {
  for (let position = 0; ; ) {
    const rows = sql.messages.all(key, position, CHUNK)
    for (const { event } of rows) {
      const found = eventIn(event)
      const title = found && titleOf(found)
      if (title !== null) return title
    }
    if (rows.length < CHUNK) return null
    position = Number(rows.at(-1)?.position)
  }
}

/** Time in milliseconds after which an import that has stored nothing counts as abandoned. */
const ABANDONED_MS = 3_600_000

/** Removes some records of a deleted conversation or an unfinished import. Returns whether there are more. */
function removeSomeRecords(sql: Statements, key: number): boolean {
  sql.unindexSome.run(key, CHUNK)
  if (Number(sql.removeRecords.run(key, CHUNK).changes) === CHUNK) return true
  sql.removeDebug.run(key)
  sql.dropLeftover.run(key)
  return false
}

/** Removes all records of such a key, in many small transactions. */
export async function removeRecords({ write }: LogConnection, key: number): Promise<void> {
  while (await write((sql) => removeSomeRecords(sql, key))) await pause()
}

/** Removes the leftovers of processes that ended in the middle of a deletion or an import. */
export async function removeLeftovers(connection: LogConnection): Promise<void> {
  const rows = await connection.read((sql) => sql.oldLeftovers.all(Date.now() - ABANDONED_MS))
  for (const { key } of rows) await removeRecords(connection, Number(key))
}

/**
 * Deletes a conversation in a transaction. Returns its key and whether records are left; null for an unknown
 * conversation.
 */
export function deleteConversation(
  sql: Statements,
  place: Place,
): { key: number; more: boolean } | null {
  const row = findRow(sql, place)
  if (!row) return null
  const { key } = row
  sql.deleteConversation.run(key)
  sql.deleteRuns.run(key)
  indexTitle(sql, key, null)
  addNotice(sql, place, { deleted: true })
  sql.putLeftover.run(key, 0)
  return { key, more: removeSomeRecords(sql, key) }
}

/** Time for which notices are kept, in milliseconds. */
const KEPT_MS = 3_600_000

/** Informs other processes of a rename, an import or a deletion, which has no record. */
export function addNotice(
  sql: Statements,
  { namespace, id }: Place,
  { deleted }: { deleted: boolean },
): void {
  const now = Date.now()
  sql.pruneNotices.run(now - KEPT_MS)
  sql.addNotice.run(now, namespace, id, deleted ? 1 : 0)
}
