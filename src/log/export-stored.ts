import type { ConversationRow } from './conversation-row.ts'
import { debugLine, headerLine } from './json-lines.ts'
import { notFoundError } from './log-errors.ts'
import { CHUNK, pause } from './pause.ts'
import { debugOf, exportedLine, type RecordRow } from './record-rows.ts'

/** Rows of one conversation in a database, by pages of {@link CHUNK}. */
export interface StoredPages {
  /** Records behind a position. */
  records(after: number): Promise<readonly LineRow[]>
  /** Debug data behind an id. */
  debug(after: number): Promise<readonly DebugRow[]>
}

/** A record, and the line that it was imported from. */
export type LineRow = RecordRow & { line: string | null }

/** Debug data of a message. */
export interface DebugRow {
  id: number
  message: string
  value: string
  line: string | null
}

/** The lines of a conversation, read by pages, up to the position that its row has. */
export async function* exportStored(
  { id, name: title, created, updated, position: end, header }: ConversationRow,
  { records, debug }: StoredPages,
): AsyncGenerator<string> {
  yield `${headerLine({ id, title, created, updated }, header)}\n`
  for (let position = 0; position < end; ) {
    const rows = await records(position)
    if (rows.length === 0) throw notFoundError(id)
    for (const row of rows) yield `${exportedLine(row, id, ++position)}\n`
    await pause()
  }
  for (let last = 0; ; ) {
    const rows = await debug(last)
    for (const { message, value, line } of rows) {
      const of = { id, position: end, message }
      const json = debugOf(value, of)
      yield `${line === null ? debugLine(message, json) : debugOf(line, of)}\n`
    }
    if (rows.length < CHUNK) return
    last = rows.at(-1)?.id ?? last
    await pause()
  }
}
