import { isoTime } from '../content/iso-time.ts'
import { isPlainObject } from '../content/json.ts'

/** The version of the lines of an export; docs/conversation-log.md says what they are. */
export const LINES_VERSION = 1

/** What the first line says. Times are milliseconds since 1970. */
export interface ExportHeader {
  id: string
  /** The title that the conversation was given, else null. */
  title: string | null
  created: number
  updated: number
}

/**
 * The first line. `kept` is the line that the conversation was imported from: it is given as it came where it still says
 * the same, and else keeps what else it has.
 */
export function headerLine(header: ExportHeader, kept: string | null = null): string {
  const before = kept === null ? {} : readHeader(kept)
  if (kept !== null && saysSame(before, header)) return kept
  return JSON.stringify({
    ...before,
    byref: 'conversation',
    version: LINES_VERSION,
    id: header.id,
    title: header.title,
    createdAt: new Date(header.created).toISOString(),
    updatedAt: new Date(header.updated).toISOString(),
  })
}

/** The line of a record: a LogRecord as JSON. `event` is JSON. */
export function recordLine(position: number, at: number, event: string): string {
  return `{"v":1,"position":${position},"timestamp":"${new Date(at).toISOString()}","event":${event}}`
}

/** The line of the debug data of one message. `value` is JSON. */
export function debugLine(message: string, value: string): string {
  return `{"debug":${JSON.stringify(message)},"value":${value}}`
}

/** What a kept header says; nothing where that is damaged. */
function readHeader(kept: string): Record<string, unknown> {
  try {
    const header: unknown = JSON.parse(kept)
    return isPlainObject(header) ? header : {}
  } catch {
    return {}
  }
}

function saysSame(line: Record<string, unknown>, header: ExportHeader): boolean {
  return (
    line.id === header.id &&
    (line.title ?? null) === header.title &&
    isoTime(String(line.createdAt)) === header.created &&
    isoTime(String(line.updatedAt)) === header.updated
  )
}
