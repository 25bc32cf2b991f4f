import { DamagedError } from '../../core/events/damaged-error.ts'
import type { LogRecord } from '../../core/events/events.ts'
import { isCorrupt } from '../../sqlite/sqlite-errors.ts'
import type { ConversationRow } from '../conversation-row.ts'
import { type RecordRow, recordsOf } from '../record-rows.ts'
import { rowsOf, type Statements } from './statements.ts'

/** Records of a conversation after a position; `limit` Infinity for all. @throws DamagedError */
export function readRecords(
  sql: Statements,
  { key, id, position: end }: Pick<ConversationRow, 'key' | 'id' | 'position'>,
  { after, limit }: { after: number; limit: number },
): LogRecord[] {
  const most = Number.isSafeInteger(limit) ? limit : -1
  try {
    const rows = rowsOf<RecordRow>(sql.read.all(key, after, most))
    return recordsOf(rows, id, { after, end, limit })
  } catch (cause) {
    if (!isCorrupt(cause)) throw cause
    // Reading the records one by one finds the damaged one.
    for (let one = after; most !== 1 && one < end; one++) {
      readRecords(sql, { key, id, position: end }, { after: one, limit: 1 })
    }
    const reason = `its page of the file is damaged (${cause.errstr})`
    throw new DamagedError(id, { position: after + 1, reason }, { cause })
  }
}
