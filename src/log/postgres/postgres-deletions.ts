import type { Query } from '../../postgres/database.ts'
import { isOwnKey, keyOf } from '../../postgres/plain-text.ts'
import type { Place } from '../conversation-row.ts'
import { CHUNK } from '../pause.ts'
import { eventIn } from '../record-rows.ts'
import { messageIn, titleOf } from '../summary.ts'

/**
 * Removes messages from lists and searches, and their debug data, in a transaction. Their records stay.
 *
 * @returns How many records had messages that were not deleted before.
 */
export async function deleteMessages(
  query: Query,
  key: number,
  ids: readonly string[],
): Promise<number> {
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
  return rows.length
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

/** Returns the title that the remaining messages give. */
export async function titleIn(query: Query, key: number): Promise<string | null> {
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
