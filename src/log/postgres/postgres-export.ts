import type { Database } from '../../postgres/database.ts'
import { fromPlain } from '../../postgres/plain-text.ts'
import { debugLine, headerLine } from '../json-lines.ts'
import { notFoundError } from '../log-errors.ts'
import { CHUNK } from '../pause.ts'
import { debugOf, exportedLine, type RecordRow } from '../record-rows.ts'
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
        `SELECT position, at, event, sum, line FROM byref.records
         WHERE conversation = $1 AND position > $2 AND position <= $3 ORDER BY position LIMIT $4`,
        [key, last, end, CHUNK],
      ),
    )
    if (rows.length === 0) throw notFoundError(id)
    for (const row of rows) yield `${exportedLine(row, id, ++last)}\n`
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
  { id: conversation, key, position }: ConversationRow,
): AsyncGenerator<string> {
  for (let last = 0; ; ) {
    const { rows } = await use(() =>
      query<DebugRow>(
        `SELECT id, message, name, value, line FROM byref.debug
         WHERE conversation = $1 AND id > $2 ORDER BY id LIMIT $3`,
        [key, last, CHUNK],
      ),
    )
    for (const { id, message: stored, name, value, line } of rows) {
      const message = name === null ? stored : fromPlain(name)
      const of = { id: conversation, position, message }
      const json = debugOf(value, of)
      yield `${line === null ? debugLine(message, json) : debugOf(line, of)}\n`
      last = id
    }
    if (rows.length < CHUNK) return
  }
}
