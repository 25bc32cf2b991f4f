import { DamagedError } from '../../core/errors.ts'
import type { LogRecord } from '../../core/events/events.ts'
import type { Query } from '../../postgres/database.ts'
import { isCorrupt } from '../../postgres/postgres-errors.ts'
import type { Place } from '../conversation-row.ts'
import { type RecordRow, recordsOf } from '../record-rows.ts'

/** Records of a conversation after a position; `limit` null for all. @throws DamagedError */
export async function readRecords(
  query: Query,
  place: Place,
  { after, limit }: { after: number; limit: number | null },
): Promise<LogRecord[]> {
  const rows = await storedRows(query, place, { after, limit })
  const end = rows[0]?.end ?? 0
  const found = rows.filter((row) => row.position !== null)
  return recordsOf(found, place.id, { after, end, limit: limit ?? Infinity })
}

/** The largest position. */
const MAX_POSITION = 2 ** 31 - 1

/** Record rows, each with the conversation's last position. A conversation without records gives one row without a position. */
export async function storedRows(
  query: Query,
  place: Place,
  page: { after: number; limit: number | null },
): Promise<(RecordRow & { end: number })[]> {
  const { namespace, id } = place
  const after = Math.min(page.after, MAX_POSITION)
  try {
    const { rows } = await query<RecordRow & { end: number }>(
      `SELECT c.position AS end, r.position, r.at, r.event, r.sum FROM byref.conversations c
       LEFT JOIN byref.records r ON r.conversation = c.key AND r.position > $3
       WHERE c.namespace = $1 AND c.id = $2 ORDER BY r.position LIMIT $4`,
      [namespace, id, after, page.limit],
    )
    return rows
  } catch (cause) {
    if (!isCorrupt(cause)) throw cause
    const reason = 'PostgreSQL cannot read it: its page is damaged'
    if (page.limit === 1) throw new DamagedError(id, { position: after + 1, reason }, { cause })
    // Reading the rows one by one finds the damaged one.
    const rows: (RecordRow & { end: number })[] = []
    for (let one = after; one - after < (page.limit ?? MAX_POSITION); one++) {
      const [row] = await storedRows(query, place, { after: one, limit: 1 })
      if (!row || row.position === null) break
      rows.push(row)
    }
    return rows
  }
}
