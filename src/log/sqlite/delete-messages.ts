import { CHUNK } from '../pause.ts'
import { eventIn } from '../record-rows.ts'
import { messageIn, titleOf } from '../summary.ts'
import type { Statements } from './statements.ts'

/**
 * Removes messages from lists and searches, and their debug data, in a transaction. Their records stay.
 *
 * @returns How many records had messages that were not deleted before.
 */
export function deleteMessages(sql: Statements, key: number, ids: readonly string[]): number {
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
  return deleted
}

/** Returns the ids of the deleted messages. */
export function deletedIn(sql: Statements, key: number): string[] {
  return sql.deleted.all(key).flatMap(({ event }) => {
    const found = eventIn(event)
    return (found && messageIn(found)) ?? []
  })
}

/** Returns the title that the remaining messages give. */
export function titleIn(sql: Statements, key: number): string | null {
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
