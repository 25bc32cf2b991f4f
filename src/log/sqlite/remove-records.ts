import type { Place } from '../conversation-row.ts'
import { CHUNK, pause } from '../pause.ts'
import { giveNotice } from './notices.ts'
import { findRow, indexTitle } from './sqlite-append.ts'
import type { LogConnection, Statements } from './statements.ts'

/** An import whose lines do not come for so long is given up. */
const GIVEN_UP_MS = 3_600_000

/** Removes some of the records of a key that is no conversation; gives whether there are more. */
export function removeSome(sql: Statements, key: number): boolean {
  sql.unindexSome.run(key, CHUNK)
  if (Number(sql.removeSome.run(key, CHUNK).changes) === CHUNK) return true
  sql.removeDebug.run(key)
  sql.dropLeftover.run(key)
  return false
}

/** Removes the rest of them, in many small transactions. */
export async function removeAll({ write }: LogConnection, key: number): Promise<void> {
  while (await write((sql) => removeSome(sql, key))) await pause()
}

/** Removes what a process left behind that was ended while it removed or imported a conversation. */
export async function removeLeftovers(connection: LogConnection): Promise<void> {
  const rows = await connection.read((sql) => sql.oldLeftovers.all(Date.now() - GIVEN_UP_MS))
  for (const { key } of rows) await removeAll(connection, Number(key))
}

/** Ends a conversation within a transaction. Gives its key and whether there are records left; null where there is none. */
export function forget(sql: Statements, place: Place): { key: number; more: boolean } | null {
  const row = findRow(sql, place)
  if (!row) return null
  const { key } = row
  sql.forget.run(key)
  indexTitle(sql, key, null)
  giveNotice(sql, place, { deleted: true })
  sql.putLeftover.run(key, 0)
  return { key, more: removeSome(sql, key) }
}
