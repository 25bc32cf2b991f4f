import type { Database, Query } from '../../postgres/database.ts'
import { type ConversationQueue, type Lease, notFoundError } from '../conversation-log.ts'
import { type ConversationRow, type Place, stateOf } from '../conversation-row.ts'
import { toPlain } from '../plain-text.ts'
import { foldCase } from '../summary.ts'
import { COLUMNS, findRow, NOW } from './conversation-rows.ts'
import { enqueueDue } from './postgres-append.ts'

const RENEW = `
  UPDATE byref.conversations SET
    lease_owner = CASE WHEN $4::bigint > 0 THEN lease_owner END,
    lease_until = CASE WHEN $4::bigint > 0 THEN ${NOW} + $4::bigint END
  WHERE namespace = $1 AND id = $2 AND lease_owner = $3 RETURNING ${COLUMNS}`

/** Renews or ends a lease. False if another owner has the lease. Ending it enqueues the conversation if it is due. */
export async function renewLease(
  { query, transaction }: Database,
  place: Place,
  { lease, queue }: { lease: Lease; queue: ConversationQueue | undefined },
): Promise<boolean> {
  const values = [place.namespace, place.id, lease.owner, Math.ceil(lease.ms)]
  if (!queue || lease.ms > 0) return (await query(RENEW, values)).rowCount > 0
  return transaction(async (inside) => {
    const [row] = (await inside<ConversationRow>(RENEW, values)).rows
    if (!row) return false
    await enqueueDue(inside, queue, { place, state: stateOf(row), isReleased: true })
    return true
  })
}

/** Enqueues a conversation, whether it is due or not. @throws ByrefError `conversation_not_found` */
export function enqueueNow(
  { transaction }: Database,
  queue: ConversationQueue,
  place: Place,
): Promise<void> {
  return transaction(async (query) => {
    const row = await findRow(query, place)
    if (!row) throw notFoundError(place.id)
    await queue.enqueue(query, {
      conversation: place.id,
      namespace: place.namespace || null,
      agent: stateOf(row).agent,
    })
  })
}

/** The key of a conversation, and the notice that informs other processes of the change. */
export interface Notice {
  key: number
  notice: number
}

/** Time for which notices are kept, in milliseconds. */
const KEPT_MS = 3_600_000

/**
 * Returns SQL that adds a notice for a change without a record, to end a statement. `of` is a table with key, namespace
 * and id.
 */
export function noticeOf(of: string, deleted: boolean): string {
  return `INSERT INTO byref.notices (at, key, namespace, conversation, deleted)
    SELECT ${NOW}, key, namespace, id, ${deleted} FROM ${of} RETURNING key, id AS notice`
}

const RENAME = `WITH renamed AS (
    UPDATE byref.conversations SET name = $3, words = $4
    WHERE namespace = $1 AND id = $2 RETURNING key, namespace, id
  ) ${noticeOf('renamed', false)}`

/**
 * Renames a conversation. A null title restores the one from its first message. Returns null for an unknown
 * conversation.
 */
export async function renameConversation(
  query: Query,
  { namespace, id }: Place,
  name: string | null,
): Promise<Notice | null> {
  const { rows } = await query<Notice>(RENAME, [namespace, id, ...nameColumns(name)])
  return rows[0] ?? null
}

/** Returns the columns name and words. A search finds the conversation's own title in its first message. */
export function nameColumns(name: string | null): (string | null)[] {
  return [name && toPlain(name), name && foldCase(name)]
}

const DELETE = `WITH gone AS (
    DELETE FROM byref.conversations WHERE namespace = $1 AND id = $2 RETURNING key, namespace, id
  ), gone_runs AS (
    DELETE FROM byref.runs r USING gone WHERE r.conversation = gone.key
  ), left_over AS (
    INSERT INTO byref.leftovers (key, touched) SELECT key, ${NOW} FROM gone
  ), old AS (
    DELETE FROM byref.notices WHERE at < (SELECT ${NOW}) - ${KEPT_MS}
  ) ${noticeOf('gone', true)}`

/**
 * Deletes a conversation. Call {@link removeRecords} afterwards, to remove its records. Returns null for an unknown
 * conversation.
 */
export async function deleteConversation(
  query: Query,
  { namespace, id }: Place,
): Promise<Notice | null> {
  const { rows } = await query<Notice>(DELETE, [namespace, id])
  return rows[0] ?? null
}

const BATCH = 2_000

/** Removes the records of a deleted conversation or an unfinished import by their key, in many small transactions. */
export async function removeRecords({ query }: Database, key: number): Promise<void> {
  for (;;) {
    const { rowCount } = await query(
      `DELETE FROM byref.records WHERE conversation = $1 AND position <= coalesce(
         (SELECT position FROM byref.records WHERE conversation = $1 ORDER BY position OFFSET $2 LIMIT 1),
         ${2 ** 31 - 1})`,
      [key, BATCH],
    )
    if (rowCount < BATCH) break
  }
  await query(
    `WITH emptied AS (DELETE FROM byref.debug WHERE conversation = $1)
     DELETE FROM byref.leftovers WHERE key = $1`,
    [key],
  )
}

/** Time in milliseconds after which an import that has stored nothing counts as abandoned. */
const ABANDONED_MS = 3_600_000

/** Removes the leftovers of processes that ended in the middle of a deletion or an import. */
export async function removeLeftovers(database: Database): Promise<void> {
  const { rows } = await database.query<{ key: number }>(
    `SELECT key FROM byref.leftovers WHERE touched < (SELECT ${NOW}) - ${ABANDONED_MS}`,
    [],
  )
  for (const { key } of rows) await removeRecords(database, key)
}
