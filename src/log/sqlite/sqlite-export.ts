import { debugLine, headerLine } from '../json-lines.ts'
import { notFoundError } from '../log-errors.ts'
import { CHUNK, pause } from '../pause.ts'
import { debugOf, exportedLine, type RecordRow } from '../record-rows.ts'
import type { ConversationRow } from './state-columns.ts'
import type { LogConnection } from './statements.ts'

type KeptRow = RecordRow & { line: string | null }

/** The lines of a conversation, read by pages, up to the position that it has now. */
export async function* sqliteExport(
  connection: LogConnection,
  row: ConversationRow,
): AsyncGenerator<string> {
  const { id, name: title, created, updated } = row
  yield `${headerLine({ id, title, created, updated }, row.header)}\n`
  yield* recordLines(connection, row)
  yield* debugLines(connection, row)
}

async function* recordLines(
  { use, read }: LogConnection,
  { id, key, position: end }: ConversationRow,
): AsyncGenerator<string> {
  for (let position = 0; position < end; ) {
    const rows = await use(() => read((sql) => sql.lines.all(key, position, end, CHUNK)))
    if (rows.length === 0) throw notFoundError(id)
    for (const row of rows) yield `${exportedLine(row as unknown as KeptRow, id, ++position)}\n`
    await pause()
  }
}

async function* debugLines(
  { use, read }: LogConnection,
  { id, key, position }: ConversationRow,
): AsyncGenerator<string> {
  for (let last = 0; ; ) {
    const rows = await use(() => read((sql) => sql.debugLines.all(key, last, CHUNK)))
    for (const { message: name, value, line } of rows) {
      const message = String(name)
      const json = debugOf(String(value), { id, position, message })
      yield `${line === null ? debugLine(message, json) : debugOf(String(line), { id, position, message })}\n`
    }
    if (rows.length < CHUNK) return
    last = Number(rows.at(-1)?.id)
    await pause()
  }
}
