import type { Database, Query } from '../../postgres/database.ts'
import { toPlain } from '../../postgres/plain-text.ts'
import type { Lease } from '../conversation-log.ts'
import type { ConversationQueue } from '../conversation-queue.ts'
import type { Place } from '../conversation-row.ts'
import { notFoundError } from '../log-errors.ts'
import {
  COLUMNS,
  type ConversationRow,
  findRow,
  NOW,
  nameWords,
  stateOf,
} from './conversation-rows.ts'
import { enqueueDue } from './postgres-append.ts'
import { removeAll } from './remove-records.ts'

const RENEW = `
  UPDATE byref.conversations SET
    lease_owner = CASE WHEN $4::bigint > 0 THEN lease_owner END,
    lease_until = CASE WHEN $4::bigint > 0 THEN ${NOW} + $4::bigint END
  WHERE namespace = $1 AND id = $2 AND lease_owner = $3 RETURNING ${COLUMNS}`

/** Lengthens or ends a lease; false where it is another's. Who ends one that is due gives it to the queue. */
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
    await enqueueDue(inside, queue, { place, state: stateOf(row), isGivenBack: true })
    return true
  })
}

/** Enqueues a conversation, whatever is due in it. @throws ByrefError `conversation_not_found` */
export function enqueueNow(
  { transaction }: Database,
  queue: ConversationQueue,
  place: Place,
): Promise<void> {
  return transaction(async (query) => {
    const row = await findRow(query, place)
    if (!row) throw notFoundError(place.id)
    const { agent } = stateOf(row)
    await queue.enqueue(query, {
      conversation: place.id,
      namespace: place.namespace || null,
      agent,
    })
  })
}

/** A key, and the number of the notice that tells others of what was done with it. */
export interface Noted {
  key: number
  notice: number
}

/** Others look for notices for no longer than this. */
const KEPT_MS = 3_600_000

/** Notes for other processes what no record says, as part of a statement; `of` has key, namespace and id. */
export function noticeOf(of: string, deleted: boolean): string {
  return `INSERT INTO byref.notices (at, key, namespace, conversation, deleted)
    SELECT ${NOW}, key, namespace, id, ${deleted} FROM ${of} RETURNING key, id AS notice`
}

/** Gives a conversation a title, or its own for null; null where there is none. */
export function giveName(
  { transaction }: Database,
  place: Place,
  name: string | null,
): Promise<Noted | null> {
  return transaction(async (query) => {
    const { rows } = await query<Noted>(
      `WITH renamed AS (
         UPDATE byref.conversations SET name = $3, words = $4
         WHERE namespace = $1 AND id = $2 RETURNING key, namespace, id
       ) ${noticeOf('renamed', false)}`,
      [place.namespace, place.id, name === null ? null : toPlain(name), nameWords(name)],
    )
    return rows[0] ?? null
  })
}

/** Ends a conversation; what it held is removed after that, in pieces. Null where there is none. */
export async function forget(query: Query, place: Place): Promise<Noted | null> {
  const { rows } = await query<Noted>(
    `WITH gone AS (
       DELETE FROM byref.conversations WHERE namespace = $1 AND id = $2 RETURNING key, namespace, id
     ), left_over AS (
       INSERT INTO byref.leftovers (key, touched) SELECT key, ${NOW} FROM gone
     ), old AS (
       DELETE FROM byref.notices WHERE at < (SELECT ${NOW}) - ${KEPT_MS}
     ) ${noticeOf('gone', true)}`,
    [place.namespace, place.id],
  )
  return rows[0] ?? null
}

/** Removes what a conversation held that was ended. */
export async function removeForgotten(database: Database, { key }: Noted): Promise<void> {
  await removeAll(database, key)
}
