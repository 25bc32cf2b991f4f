import type { ConversationEvent, LogRecord } from '../content/events.ts'

/** A row of the records, as the logs in databases store them. */
export interface RecordRow {
  position: number
  at: number
  event: string
}

/** The record that a row holds. */
export function recordOf({ position, at, event }: RecordRow): LogRecord {
  const timestamp = new Date(at).toISOString()
  return { v: 1, position, timestamp, event: JSON.parse(event) as ConversationEvent }
}
