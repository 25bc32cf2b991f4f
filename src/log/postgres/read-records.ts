import type { LogRecord } from '../../content/events.ts'
import type { Query } from '../../postgres/database.ts'
import { type RecordRow, recordOf } from '../record-rows.ts'
import type { Place } from './conversation-rows.ts'

/** Records of a conversation behind a position; `limit` null for all. */
export async function readRecords(
  query: Query,
  { namespace, id }: Place,
  { after, limit }: { after: number; limit: number | null },
): Promise<LogRecord[]> {
  const { rows } = await query<RecordRow>(
    `SELECT r.position, r.at, r.event FROM byref.conversations c
     JOIN byref.records r ON r.conversation = c.key AND r.position > $3
     WHERE c.namespace = $1 AND c.id = $2 ORDER BY r.position LIMIT $4`,
    [namespace, id, Math.min(after, MOST), limit],
  )
  return rows.map(recordOf)
}

/** The largest position that there can be. */
export const MOST = 2 ** 31 - 1
