import type { ConversationEvent, LogRecord } from '../../content/events.ts'
import type { Statements } from './statements.ts'

/** A row of the records. */
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

/** Records of a conversation behind a position; `limit` -1 for all. */
export function readRecords(
  sql: Statements,
  key: number,
  { after, limit }: { after: number; limit: number },
): LogRecord[] {
  return (sql.read.all(key, after, limit) as unknown as RecordRow[]).map(recordOf)
}
