import { DamagedError } from '../core/events/damaged-error.ts'
import { notFoundError } from './conversation-log.ts'
import type { ConversationRow } from './conversation-row.ts'
import { CHUNK, pause } from './pause.ts'
import { debugLine, headerLine } from './read-lines.ts'
import { debugOf, exportedLine, type RecordRow, unseal } from './record-rows.ts'

/** Reads the rows of one conversation, in pages of {@link CHUNK}. */
export interface StoredPages {
  /** Records after a position. */
  records(after: number): Promise<readonly RecordRow[]>
  /** Debug data after an id. */
  debug(after: number): Promise<readonly DebugRow[]>
}

/** Debug data of a message. */
export interface DebugRow {
  id: number
  message: string
  value: string
}

/**
 * Returns the lines of a conversation, read in pages, up to the position in its row. For a repair, `soundEnd` is the
 * last sound position: the lines end there, and damaged debug data are left out.
 *
 * @throws DamagedError
 */
export async function* exportStored(
  { id, name: title, created, updated, position }: ConversationRow,
  { records, debug }: StoredPages,
  soundEnd: number | null = null,
): AsyncGenerator<string> {
  const end = soundEnd ?? position
  yield `${headerLine({ id, title, created, updated })}\n`
  for (let last = 0; last < end; ) {
    const rows = (await records(last)).slice(0, end - last)
    if (rows.length === 0) throw soundEnd === null ? notFoundError(id) : missing(id, last + 1)
    for (const row of rows) yield `${exportedLine(row, id, ++last)}\n`
    await pause()
  }
  for (let last = 0; ; ) {
    const rows = await debug(last)
    for (const { message, value } of rows) {
      if (soundEnd !== null && unseal(value) === null) continue
      yield `${debugLine(message, debugOf(value, { id, position, message }))}\n`
    }
    if (rows.length < CHUNK) return
    last = rows.at(-1)?.id ?? last
    await pause()
  }
}

function missing(id: string, position: number): DamagedError {
  return new DamagedError(id, { position, reason: 'the record is missing' })
}
