import { CHUNK } from '../pause.ts'
import { eventIn } from '../record-rows.ts'
import { messageIn, titleOf } from '../summary.ts'
import type { Statements } from './statements.ts'

/**
 * Takes away what a list or a search would say of messages, and their debug data, within a transaction. Their records stay.
 * Gives how many records were of messages that were there until now.
 */
export function deleteMessages(sql: Statements, key: number, ids: readonly string[]): number {
  let gone = 0
  for (const messageId of new Set(ids)) {
    for (const { id, event } of sql.ofMessage.all(key, messageId)) {
      // Text that is no Unicode is another one in SQLite.
      const found = eventIn(event)
      if (!found || messageIn(found) !== messageId) continue
      gone += Number(sql.markDeleted.run(id as number).changes)
      sql.unindex.run(2 * Number(id))
      sql.removeDebugOf.run(key, messageId)
    }
  }
  return gone
}

/** The ids of the messages that were deleted. */
export function deletedIn(sql: Statements, key: number): string[] {
  return sql.deleted.all(key).flatMap(({ event }) => {
    const found = eventIn(event)
    return (found && messageIn(found)) ?? []
  })
}

/** The title that the messages give which are left. */
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
