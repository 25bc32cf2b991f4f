import type { Place } from '../conversation-row.ts'
import { CHUNK, pause } from '../pause.ts'
import { findRow, indexTitle } from './sqlite-append.ts'
import type { LogConnection, Statements } from './statements.ts'

/** An import that stores nothing for this time is abandoned, in milliseconds. */
const ABANDONED_MS = 3_600_000

/** Removes some records of a key that is not a conversation. Returns whether there are more. */
export function removeSome(sql: Statements, key: number): boolean {
  sql.unindexSome.run(key, CHUNK)
  if (Number(sql.removeSome.run(key, CHUNK).changes) === CHUNK) return true
  sql.removeDebug.run(key)
  sql.dropLeftover.run(key)
  return false
}

/** Removes all of them, in many small transactions. */
export async function removeAll({ write }: LogConnection, key: number): Promise<void> {
  while (await write((sql) => removeSome(sql, key))) await pause()
}

/** Removes the leftovers of processes that ended in the middle of a deletion or an import. */
export async function removeLeftovers(connection: LogConnection): Promise<void> {
  const rows = await connection.read((sql) => sql.oldLeftovers.all(Date.now() - ABANDONED_MS))
  for (const { key } of rows) await removeAll(connection, Number(key))
}

/** Deletes a conversation in a transaction. Returns its key and whether records are left; null for an unknown conversation. */
export function forget(sql: Statements, place: Place): { key: number; more: boolean } | null {
  const row = findRow(sql, place)
  if (!row) return null
  const { key } = row
  sql.forget.run(key)
  sql.forgetRuns.run(key)
  indexTitle(sql, key, null)
  giveNotice(sql, place, { deleted: true })
  sql.putLeftover.run(key, 0)
  return { key, more: removeSome(sql, key) }
}

/** How long notices are kept, in milliseconds. */
const KEPT_MS = 3_600_000

/** Informs other processes of a rename, an import or a deletion, which has no record. */
export function giveNotice(
  sql: Statements,
  { namespace, id }: Place,
  { deleted }: { deleted: boolean },
): void {
  const now = Date.now()
  sql.pruneNotices.run(now - KEPT_MS)
  sql.notice.run(now, namespace, id, deleted ? 1 : 0)
}
