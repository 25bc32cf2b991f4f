import type { LogRecord } from '../../content/events.ts'
import type { LogChange } from '../conversation-log.ts'
import { type RecordRow, soundRecord } from '../record-rows.ts'
import type { Statements } from './statements.ts'

/** The last rows that are known. */
export interface Marks {
  record: number
  notice: number
}

interface ChangedRow extends RecordRow {
  id: number
  namespace: string
  conversation: string
}

interface NoticeRow {
  id: number
  /** The last record when it was given. */
  record: number
  namespace: string
  conversation: string
  deleted: number
}

/** The last rows that there are. */
export function readMarks(sql: Statements): Marks {
  return {
    record: Number(sql.lastRecord.get()?.seq ?? 0),
    notice: Number(sql.lastNotice.get()?.seq ?? 0),
  }
}

/** Changes behind the marks in the order in which they were stored, of at most `limit` records (-1 for all). */
export function readChanges(
  sql: Statements,
  { record, notice }: Marks,
  limit: number,
): { changes: LogChange[]; marks: Marks; more: boolean } {
  const last = readMarks(sql).record
  const rows = sql.recordsBetween.all(record, last, limit) as unknown as ChangedRow[]
  const more = rows.length === limit
  const end = more ? (rows.at(-1)?.id ?? last) : last
  const notices = sql.noticesBetween.all(notice, end) as unknown as NoticeRow[]
  const marks = { record: end, notice: notices.at(-1)?.id ?? notice }
  return { changes: inOrder(rows, notices), marks, more }
}

/** Records that follow each other in one conversation are one change. */
function inOrder(rows: readonly ChangedRow[], notices: readonly NoticeRow[]): LogChange[] {
  const changes: LogChange[] = []
  let next = 0
  let open: (LogChange & { records: LogRecord[] }) | null = null
  const take = (before: number): void => {
    for (let row = notices[next]; row && row.record < before; row = notices[++next]) {
      changes.push({ ...placeOf(row), records: [], ...(row.deleted ? { deleted: true } : {}) })
      open = null
    }
  }
  for (const row of rows) {
    take(row.id)
    const place = placeOf(row)
    if (open?.conversation !== place.conversation || open.namespace !== place.namespace) {
      open = { ...place, records: [] }
      changes.push(open)
    }
    const record = soundRecord(row, row.conversation)
    if (record) open.records.push(record)
  }
  take(Number.POSITIVE_INFINITY)
  return changes
}

function placeOf(row: { namespace: string; conversation: string }): {
  conversation: string
  namespace: string | null
} {
  return { conversation: row.conversation, namespace: row.namespace || null }
}
