import { DamagedError } from '../../core/errors.ts'
import type { LogRecord } from '../../core/events/events.ts'
import type { Query } from '../../postgres/database.ts'
import { isCorrupt } from '../../postgres/postgres-errors.ts'
import type { Place } from '../conversation-row.ts'
import { CHUNK } from '../pause.ts'
import { isOwnKey, keyOf } from '../plain-text.ts'
import { eventIn, type RecordRow, recordsOf } from '../record-rows.ts'
import { type DeletedMessages, messageIn, titleOf } from '../summary.ts'

/** Removes messages from lists and searches, and their debug data, in a transaction. Their records stay. */
export async function deleteMessages(
  query: Query,
  key: number,
  ids: readonly string[],
): Promise<DeletedMessages> {
  const keys = [...new Set(ids.map(keyOf))]
  const { rows } = await query<{ message: string }>(
    `UPDATE byref.records SET deleted = true, words = NULL
     WHERE conversation = $1 AND message = ANY ($2) AND NOT deleted RETURNING message`,
    [key, keys],
  )
  // Debug data of an unknown message stay.
  await query(
    `DELETE FROM byref.debug d WHERE conversation = $1 AND message = ANY ($2) AND EXISTS
     (SELECT 1 FROM byref.records r WHERE r.conversation = $1 AND r.message = d.message)`,
    [key, keys],
  )
  return { deleted: rows.length, title: await titleIn(query, key) }
}

/** Returns the ids of the deleted messages. */
export async function deletedIn(query: Query, { namespace, id }: Place): Promise<string[]> {
  const { rows } = await query<{ message: string; event: string | null }>(
    `SELECT r.message, CASE WHEN r.message LIKE '\\\\%' THEN r.event END AS event
     FROM byref.conversations c JOIN byref.records r ON r.conversation = c.key AND r.deleted
     WHERE c.namespace = $1 AND c.id = $2`,
    [namespace, id],
  )
  return rows.flatMap(({ message, event }) => {
    if (isOwnKey(message) || event === null) return message
    const found = eventIn(event)
    return (found && messageIn(found)) ?? []
  })
}

/** Returns the title from the remaining messages. */
async function titleIn(query: Query, key: number): Promise<string | null> {
  for (let position = 0, size = 10; ; size = CHUNK) {
    const { rows } = await query<{ position: number; event: string }>(
      `SELECT position, event FROM byref.records
       WHERE conversation = $1 AND position > $2 AND words IS NOT NULL ORDER BY position LIMIT $3`,
      [key, position, size],
    )
    for (const { event } of rows) {
      const found = eventIn(event)
      const title = found && titleOf(found)
      if (title !== null) return title
    }
    const last = rows.at(-1)
    if (rows.length < size || !last) return null
    position = last.position
  }
}

/** Returns the records of a conversation after a position. `limit` null means all. @throws DamagedError */
export async function readRecords(
  query: Query,
  place: Place,
  { after, limit }: { after: number; limit: number | null },
): Promise<LogRecord[]> {
  const rows = await storedRows(query, place, { after, limit })
  const end = rows[0]?.end ?? 0
  const found = rows.filter((row) => row.position !== null)
  return recordsOf(found, place.id, { after, end, limit: limit ?? Infinity })
}

/** The largest position. */
const MAX_POSITION = 2 ** 31 - 1

/** Selects records, each with the conversation's last position. The condition on the position follows. */
const SELECT = `SELECT c.position AS end, r.position, r.at, r.event, r.sum FROM byref.conversations c
  LEFT JOIN byref.records r ON r.conversation = c.key AND r.position`

/**
 * Returns record rows, each with the conversation's last position. Without records, returns one row without a position.
 */
export async function storedRows(
  query: Query,
  place: Place,
  page: { after: number; limit: number | null },
): Promise<(RecordRow & { end: number })[]> {
  const { namespace, id } = place
  const after = Math.min(page.after, MAX_POSITION)
  try {
    const { rows } = await query<RecordRow & { end: number }>(
      `${SELECT} > $3
       WHERE c.namespace = $1 AND c.id = $2 ORDER BY r.position LIMIT $4`,
      [namespace, id, after, page.limit],
    )
    return rows
  } catch (cause) {
    if (!isCorrupt(cause)) throw cause
    const most = page.limit ?? MAX_POSITION
    const rows: (RecordRow & { end: number })[] = []
    for (let position = after + 1; position - after <= most; position++) {
      const row = await oneRow(query, place, position)
      if (!row) break
      rows.push(row)
      if (row.position === null) break
    }
    return rows
  }
}

/** Returns the row of one record. Reads no pages of other records. @throws DamagedError */
async function oneRow(
  query: Query,
  { namespace, id }: Place,
  position: number,
): Promise<(RecordRow & { end: number }) | undefined> {
  try {
    const { rows } = await query<RecordRow & { end: number }>(
      `${SELECT} = $3
       WHERE c.namespace = $1 AND c.id = $2`,
      [namespace, id, position],
    )
    return rows[0]
  } catch (cause) {
    if (!isCorrupt(cause)) throw cause
    const reason = 'PostgreSQL cannot read it: its page is damaged'
    throw new DamagedError(id, { position, reason }, { cause })
  }
}
