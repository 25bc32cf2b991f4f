import type { LogRecord } from '../../content/events.ts'
import { type RecordRow, recordOf } from '../record-rows.ts'
import type { Statements } from './statements.ts'

/** Records of a conversation behind a position; `limit` -1 for all. */
export function readRecords(
  sql: Statements,
  key: number,
  { after, limit }: { after: number; limit: number },
): LogRecord[] {
  return (sql.read.all(key, after, limit) as unknown as RecordRow[]).map(recordOf)
}
