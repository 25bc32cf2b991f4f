import type { Query } from '../../postgres/database.ts'
import { fromPlain, toPlain } from '../../postgres/plain-text.ts'
import type { StoredLease } from '../admit.ts'
import { foldCase } from '../chat-text.ts'
import type { ConversationSummary } from '../conversation-log.ts'
import { type ConversationState, readDamage, readIds, summaryOf } from '../summary.ts'

/** Where a conversation is. A namespace '' is none. */
export interface Place {
  namespace: string
  id: string
}

/** A row of the conversations, and what time it is where it lies. */
export interface ConversationRow {
  key: number
  namespace: string
  id: string
  name: string | null
  created: number
  updated: number
  position: number
  title: string | null
  messages: number
  open_run: string | null
  queued: string | null
  approvals: string | null
  failed: boolean
  agent: string | null
  lease_owner: string | null
  lease_until: number | null
  header: string | null
  imported: number
  damage: string | null
  now: number
}

/** The database's time in milliseconds since 1970; as a subquery where it is compared, since no index is used otherwise. */
export const NOW = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

/** The columns of {@link ConversationRow}. */
export const COLUMNS = `key, namespace, id, name, created, updated, position, title, messages, open_run, queued,
  approvals, failed, agent, lease_owner, lease_until, header, imported, damage`

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
  const { title, messages, openRun, queued, approvals, failed, agent } = state
  return [
    ...[plain(title), messages, plain(openRun)],
    ...[listText(queued), listText(approvals), failed, plain(agent)],
  ]
}

/** What {@link stateColumns} stored. */
export function stateOf(row: ConversationRow): ConversationState {
  return {
    title: text(row.title),
    messages: row.messages,
    openRun: text(row.open_run),
    queued: readIds(row.queued),
    approvals: readIds(row.approvals),
    failed: row.failed,
    agent: text(row.agent),
  }
}

/** The title that it was given. */
export function nameOf({ name }: ConversationRow): string | null {
  return text(name)
}

/** What a search finds of a title that was given. Its own is the beginning of a message, which is found anyway. */
export function nameWords(name: string | null): string | null {
  return name && foldCase(name)
}

/** Whose lease it is, and until when. */
export function leaseOf(row: ConversationRow): StoredLease | null {
  return row.lease_owner === null ? null : { owner: row.lease_owner, until: row.lease_until ?? 0 }
}

/** The summary that a row holds. */
export function summaryOfRow(row: ConversationRow): ConversationSummary {
  const { id, created, updated, position } = row
  const stored = {
    id,
    namespace: row.namespace || null,
    name: nameOf(row),
    created,
    updated,
    position,
    damage: readDamage(row.damage),
  }
  return summaryOf({ ...stored, state: stateOf(row), lease: leaseOf(row) }, row.now)
}

function plain(given: string | null): string | null {
  return given === null ? null : toPlain(given)
}

function text(stored: string | null): string | null {
  return stored === null ? null : fromPlain(stored)
}

function listText(ids: readonly string[]): string | null {
  return ids.length > 0 ? JSON.stringify(ids) : null
}
