/** The version of the export format, which docs/conversation-log.md describes. */
export const LINES_VERSION = 1

/** The first line of an export. Times are milliseconds since 1970. */
export interface ExportHeader {
  id: string
  /** The title that the conversation was given, or null. */
  title: string | null
  created: number
  updated: number
}

/** The first line. */
export function headerLine({ id, title, created, updated }: ExportHeader): string {
  return JSON.stringify({
    byref: 'conversation',
    version: LINES_VERSION,
    id,
    title,
    createdAt: new Date(created).toISOString(),
    updatedAt: new Date(updated).toISOString(),
  })
}

/** The line of a record: a LogRecord as JSON. `event` is JSON. */
export function recordLine(position: number, at: number, event: string): string {
  return `{"v":1,"position":${position},"timestamp":"${new Date(at).toISOString()}","event":${event}}`
}

/** The line of the debug data of a message. `value` is JSON. */
export function debugLine(message: string, value: string): string {
  return `{"debug":${JSON.stringify(message)},"value":${value}}`
}
