import type { Query } from '../../postgres/database.ts'
import { fromPlain, toPlain } from '../../postgres/plain-text.ts'
import { foldCase } from '../chat-text.ts'
import type { ConversationSummary } from '../conversation-log.ts'
import {
  stateColumns as columnsOf,
  type Place,
  type ConversationRow as StoredRow,
  stateOf as storedState,
  summaryOfRow as storedSummary,
} from '../conversation-row.ts'
import type { ConversationState } from '../summary.ts'

/** A row of the conversations, and what time it is where it lies. Its texts are read by the functions below. */
export interface ConversationRow extends StoredRow {
  now: number
}

/** The database's time in milliseconds since 1970; as a subquery where it is compared, since no index is used otherwise. */
export const NOW = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

/** The columns of {@link ConversationRow}. */
export const COLUMNS = `key, namespace, id, name, created, updated, position, title, messages, open_run, queued,
  approvals, failed, agent, lease_owner, lease_until, imported, damage`

const FIND = `SELECT ${COLUMNS}, ${NOW} AS now FROM byref.conversations WHERE namespace = $1 AND id = $2`

// The time is that after the lock was had.
const LOCK = `WITH locked AS MATERIALIZED (
    SELECT ${COLUMNS} FROM byref.conversations WHERE namespace = $1 AND id = $2 FOR UPDATE
  ) SELECT ${COLUMNS}, ${NOW} AS now FROM locked`

/** The row of a conversation, or null. */
export async function findRow(
  query: Query,
  { namespace, id }: Place,
): Promise<ConversationRow | null> {
  const { rows } = await query<ConversationRow>(FIND, [namespace, id])
  return rows[0] ?? null
}

/** The row of a conversation, held until the end of the transaction, or null. */
export async function lockRow(
  query: Query,
  { namespace, id }: Place,
): Promise<ConversationRow | null> {
  const { rows } = await query<ConversationRow>(LOCK, [namespace, id])
  return rows[0] ?? null
}

/** Makes the row of a conversation, held until the end of the transaction; null where there is one. */
export async function createRow(
  query: Query,
  { namespace, id }: Place,
): Promise<ConversationRow | null> {
  const { rows } = await query<ConversationRow>(
    `INSERT INTO byref.conversations (namespace, id, created, updated)
     SELECT $1, $2, now, now FROM (SELECT ${NOW} AS now) AS clock
     ON CONFLICT (namespace, id) DO NOTHING RETURNING ${COLUMNS}, ${NOW} AS now`,
    [namespace, id],
  )
  return rows[0] ?? null
}

/** The columns title, messages, open_run, queued, approvals, failed and agent, in this order. */
export function stateColumns(state: ConversationState): unknown[] {
  const { title, openRun, agent } = state
  return columnsOf({ ...state, title: plain(title), openRun: plain(openRun), agent: plain(agent) })
}

/** What {@link stateColumns} stored. */
export function stateOf(row: ConversationRow): ConversationState {
  return storedState(withTexts(row))
}

/** The title that it was given. */
export function nameOf({ name }: ConversationRow): string | null {
  return text(name)
}

/** What a search finds of a title that was given. Its own is the beginning of a message, which is found anyway. */
export function nameWords(name: string | null): string | null {
  return name && foldCase(name)
}

/** The summary that a row holds. */
export function summaryOfRow(row: ConversationRow): ConversationSummary {
  return storedSummary(withTexts(row), row.now)
}

/** The row with its texts as they were given. */
function withTexts(row: ConversationRow): ConversationRow {
  const { title, open_run, agent } = row
  const texts = { title: text(title), open_run: text(open_run), agent: text(agent) }
  return { ...row, ...texts, name: nameOf(row) }
}

function plain(given: string | null): string | null {
  return given === null ? null : toPlain(given)
}

function text(stored: string | null): string | null {
  return stored === null ? null : fromPlain(stored)
}
