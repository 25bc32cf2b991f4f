import type { Query } from '../../postgres/database.ts'
import { fromPlain, mapTexts, toPlain } from '../../postgres/plain-text.ts'
import { type ConversationRow, stateColumns as columnsOf, type Place } from '../conversation-row.ts'
import type { ConversationState } from '../summary.ts'

/** A row of the conversations with its texts decoded, and the time of the database. */
export interface TimedRow extends ConversationRow {
  now: number
}

/** The database's time in milliseconds since 1970. Compare with it in a subquery, or no index is used. */
export const NOW = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

/** The columns of {@link ConversationRow}. */
export const COLUMNS = `key, namespace, id, name, created, updated, position, title, messages, open_run, queued,
  approvals, failed, agent, root, branch, run, lease_owner, lease_until, imported, damage`

const FIND = `SELECT ${COLUMNS}, ${NOW} AS now FROM byref.conversations WHERE namespace = $1 AND id = $2`

// The time is read after the lock is held.
const LOCK = `WITH locked AS MATERIALIZED (
    SELECT ${COLUMNS} FROM byref.conversations WHERE namespace = $1 AND id = $2 FOR UPDATE
  ) SELECT ${COLUMNS}, ${NOW} AS now FROM locked`

const CREATE = `INSERT INTO byref.conversations (namespace, id, created, updated)
  SELECT $1, $2, now, now FROM (SELECT ${NOW} AS now) AS clock
  ON CONFLICT (namespace, id) DO NOTHING RETURNING ${COLUMNS}, ${NOW} AS now`

/** Returns the row of a conversation, or null. */
export function findRow(query: Query, place: Place): Promise<TimedRow | null> {
  return firstRow(query, FIND, place)
}

/** Returns the row of a conversation, locked until the end of the transaction, or null. */
export function lockRow(query: Query, place: Place): Promise<TimedRow | null> {
  return firstRow(query, LOCK, place)
}

/** Creates the row of a conversation, locked until the end of the transaction; null if it exists. */
export function createRow(query: Query, place: Place): Promise<TimedRow | null> {
  return firstRow(query, CREATE, place)
}

async function firstRow(
  query: Query,
  sql: string,
  { namespace, id }: Place,
): Promise<TimedRow | null> {
  const { rows } = await query<TimedRow>(sql, [namespace, id])
  return rows[0] ? decodeRow(rows[0]) : null
}

/** Returns a row with its texts as they were given. */
export function decodeRow<Row extends ConversationRow>(row: Row): Row {
  return mapTexts(row, ['name', 'title', 'open_run', 'agent', 'root'], fromPlain)
}

/** The columns title, messages, open_run, queued, approvals, failed, agent, root, branch and run, in this order. */
export function stateColumns(state: ConversationState): unknown[] {
  const { branch } = state
  return columnsOf({
    ...mapTexts(state, ['title', 'openRun', 'agent'], toPlain),
    branch: branch && { ...branch, root: toPlain(branch.root) },
  })
}
