import type { Database } from '../../postgres/database.ts'
import { fromPlain } from '../../postgres/plain-text.ts'
import { debugLine, headerLine, recordLine } from '../json-lines.ts'
import { notFoundError } from '../log-errors.ts'
import { CHUNK } from '../pause.ts'
import type { RecordRow } from '../record-rows.ts'
import { type ConversationRow, nameOf } from './conversation-rows.ts'

/** The lines of a conversation, read by pages, up to the position that it has now. */
export async function* postgresExport(
  database: Database,
  row: ConversationRow,
): AsyncGenerator<string> {
  const { id, created, updated } = row
  yield `${headerLine({ id, title: nameOf(row), created, updated }, row.header)}\n`
  yield* recordLines(database, row)
  yield* debugLines(database, row)
}

async function* recordLines(
  { use, query }: Database,
  { id, key, position: end }: ConversationRow,
): AsyncGenerator<string> {
  for (let last = 0; last < end; ) {
    const { rows } = await use(() =>
      query<RecordRow & { line: string | null }>(
        `SELECT position, at, event, line FROM byref.records
         WHERE conversation = $1 AND position > $2 AND position <= $3 ORDER BY position LIMIT $4`,
        [key, last, end, CHUNK],
      ),
    )
    if (rows.length === 0) throw notFoundError(id)
    for (const { position, at, event, line } of rows) {
      yield `${line ?? recordLine(position, at, event)}\n`
      last = position
    }
  }
}

interface DebugRow {
  id: number
  message: string
  name: string | null
  value: string
  line: string | null
}

async function* debugLines(
  { use, query }: Database,
  { key }: ConversationRow,
): AsyncGenerator<string> {
  for (let last = 0; ; ) {
    const { rows } = await use(() =>
      query<DebugRow>(
        `SELECT id, message, name, value, line FROM byref.debug
         WHERE conversation = $1 AND id > $2 ORDER BY id LIMIT $3`,
        [key, last, CHUNK],
      ),
    )
    for (const { id, message, name, value, line } of rows) {
      yield `${line ?? debugLine(name === null ? message : fromPlain(name), value)}\n`
      last = id
    }
    if (rows.length < CHUNK) return
  }
}
