import type { Database } from '../../postgres/database.ts'
import { NOW } from './conversation-rows.ts'

/** An import whose lines do not come for so long is given up. */
const GIVEN_UP_MS = 3_600_000
const BATCH = 2_000

/** Removes the records of a key that is no conversation, in many small transactions. */
export async function removeAll({ query }: Database, key: number): Promise<void> {
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

/** Removes what a process left behind that was ended while it removed or imported a conversation. */
export async function removeLeftovers(database: Database): Promise<void> {
  const { rows } = await database.query<{ key: number }>(
    `SELECT key FROM byref.leftovers WHERE touched < (SELECT ${NOW}) - ${GIVEN_UP_MS}`,
    [],
  )
  for (const { key } of rows) await removeAll(database, key)
}
