import { CHUNK, pause } from '../pause.ts'
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
