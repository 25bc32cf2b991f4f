import { DamagedError, errorMessage } from '../core/errors.ts'
import { eventProblem } from '../core/events/event-schema.ts'
import type { ConversationEvent, LogRecord } from '../core/events/events.ts'
import { eventSum, unseal } from './checksums.ts'
import { notFoundError, type StoredRecord } from './conversation-log.ts'
import { type ConversationRow, nameOf } from './conversation-row.ts'
import { CHUNK, pause } from './pause.ts'
import { debugLine, END_LINE, headerLine, recordLine } from './read-lines.ts'

/** A row of the table of records in a database. */
export interface RecordRow {
  position: number
  at: number
  /** JSON. */
  event: string
  /** {@link eventSum} plus the time. */
  sum: number
}

/** Returns what is wrong with a row, without parsing its event. Null if its checksum is right. */
function rowProblem({ position, at, event, sum }: RecordRow): string | null {
  // Damage may have changed the type of a column, too.
  const isSound = typeof event === 'string' && eventSum(position, event) + at === sum
  return isSound ? null : 'its checksum is wrong'
}

/** Returns a stored record, intact or damaged. */
export function storedRecord(row: RecordRow): StoredRecord {
  const { position, at, event } = row
  return { position, at, event, problem: rowProblem(row) }
}

/** Returns the record that a row of a conversation holds. @throws DamagedError */
function recordOf(row: RecordRow, conversation: string): LogRecord {
  const { position } = row
  const broken = (reason: string, cause?: unknown) =>
    new DamagedError(conversation, { position, reason }, { cause })
  const problem = rowProblem(row)
  if (problem !== null) throw broken(problem)
  let event: unknown
  try {
    event = JSON.parse(row.event)
  } catch (cause) {
    throw broken(`it is not JSON (${errorMessage(cause)})`, cause)
  }
  const invalid = eventProblem(event)
  if (invalid !== null) throw broken(invalid)
  return { v: 1, position, timestamp: isoText(row.at), event: event as ConversationEvent }
}

/** Returns the record in a row. Null if it is damaged, which reading the conversation reports. */
export function soundRecord(row: RecordRow, conversation: string): LogRecord | null {
  try {
    return recordOf(row, conversation)
  } catch (error) {
    if (error instanceof DamagedError) return null
    throw error
  }
}

let last = { at: 0, text: new Date(0).toISOString() }

/** Caches the last time, because all records of an append have the same time. */
function isoText(at: number): string {
  if (last.at !== at) last = { at, text: new Date(at).toISOString() }
  return last.text
}

/**
 * Returns the records of rows after a position; `end` is the conversation's last position. @throws DamagedError for a
 * missing one
 */
export function recordsOf(
  rows: readonly RecordRow[],
  conversation: string,
  { after, end, limit }: { after: number; end: number; limit: number },
): LogRecord[] {
  const count = Math.max(rows.length, Math.min(limit, end - after))
  const records: LogRecord[] = []
  for (let i = 0; i < count; i++) {
    const position = after + i + 1
    const row = rows[i]
    if (row?.position !== position) throw missing(conversation, position)
    records.push(recordOf(row, conversation))
  }
  return records
}

/**
 * Returns the event of a row, for lists and searches. Null if it is damaged, so that one row does not break a list.
 */
export function eventIn(json: unknown): ConversationEvent | null {
  try {
    const event: unknown = JSON.parse(String(json))
    return eventProblem(event) === null ? (event as ConversationEvent) : null
  } catch {
    return null
  }
}

/** Returns the export line of a row. @throws DamagedError */
function exportedLine(row: RecordRow, conversation: string, expected: number): string {
  const { position, at, event } = row
  const problem = position === expected ? rowProblem(row) : 'the record is missing'
  if (problem === null) return recordLine(position, at, event)
  throw new DamagedError(conversation, { position: expected, reason: problem })
}

/**
 * Returns the debug data of a message as JSON. `position` is the conversation's last position. @throws DamagedError
 * after that position
 */
export function debugOf(
  sealed: string,
  { id, position, message }: { id: string; position: number; message: string },
): string {
  const text = unseal(sealed)
  if (text !== null) return text
  const reason = `the debug data of the message "${message}" are damaged`
  throw new DamagedError(id, { position: position + 1, reason })
}

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
 * last position before the damage: the lines end there, and damaged debug data are left out.
 *
 * @throws DamagedError
 */
export async function* exportStored(
  row: ConversationRow,
  { records, debug }: StoredPages,
  soundEnd: number | null = null,
): AsyncGenerator<string> {
  const { id, created, updated, position } = row
  const end = soundEnd ?? position
  yield `${headerLine({ id, title: nameOf(row), created, updated })}\n`
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
    if (rows.length < CHUNK) break
    last = rows.at(-1)?.id ?? last
    await pause()
  }
  yield `${END_LINE}\n`
}

function missing(id: string, position: number): DamagedError {
  return new DamagedError(id, { position, reason: 'the record is missing' })
}
