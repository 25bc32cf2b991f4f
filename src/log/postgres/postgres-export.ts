import type { Database } from '../../postgres/database.ts'
import { fromPlain } from '../../postgres/plain-text.ts'
import { type DebugRow, exportStored } from '../export-stored.ts'
import { CHUNK } from '../pause.ts'
import type { RecordRow } from '../record-rows.ts'
import { type ConversationRow, nameOf } from './conversation-rows.ts'

/** The lines of a conversation; see {@link exportStored}. */
export function postgresExport(
  { use, query }: Database,
  row: ConversationRow,
  soundEnd?: number,
): AsyncGenerator<string> {
  const { key, position: end } = row
  return exportStored(
    { ...row, name: nameOf(row) },
    {
      async records(after) {
        const sql = `SELECT position, at, event, sum FROM byref.records
          WHERE conversation = $1 AND position > $2 AND position <= $3 ORDER BY position LIMIT $4`
        const values = [key, after, end, CHUNK]
        return (await use(() => query<RecordRow>(sql, values))).rows
      },
      async debug(after) {
        const sql = `SELECT id, message, name, value FROM byref.debug
          WHERE conversation = $1 AND id > $2 ORDER BY id LIMIT $3`
        const values = [key, after, CHUNK]
        const { rows } = await use(() => query<DebugRow & { name: string | null }>(sql, values))
        return rows.map(({ name, ...found }) =>
          name === null ? found : { ...found, message: fromPlain(name) },
        )
      },
    },
    soundEnd,
  )
}
