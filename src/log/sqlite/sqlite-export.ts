import { debugLine, headerLine, recordLine } from '../json-lines.ts'
import { notFoundError } from '../log-errors.ts'
import { CHUNK, pause } from '../pause.ts'
import type { ConversationRow } from './state-columns.ts'
import type { LogConnection } from './statements.ts'

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
    for (const { position, at, event, line } of rows) {
      yield `${line ?? recordLine(Number(position), Number(at), String(event))}\n`
    }
    position = Number(rows.at(-1)?.position)
    await pause()
  }
}

async function* debugLines(
  { use, read }: LogConnection,
  { key }: ConversationRow,
): AsyncGenerator<string> {
  for (let last = 0; ; ) {
    const rows = await use(() => read((sql) => sql.debugLines.all(key, last, CHUNK)))
    for (const { message, value, line } of rows) {
      yield `${line ?? debugLine(String(message), String(value))}\n`
    }
    if (rows.length < CHUNK) return
    last = Number(rows.at(-1)?.id)
    await pause()
  }
}
