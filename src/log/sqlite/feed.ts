import type { LogRecord } from '../../core/events/events.ts'
import { inBackground } from '../../core/in-background.ts'
import type { TransactionHooks } from '../../sqlite/write-queue.ts'
import type { LogChange } from '../conversation-log.ts'
import { type Audience, listeners } from '../listeners.ts'
import { CHUNK, pause } from '../pause.ts'
import { type RecordRow, soundRecord } from '../record-rows.ts'
import type { LogConnection, Statements } from './statements.ts'

const POLL_MS = 100

/** Tells subscribers what changes in the file, whoever changes it. */
export interface Feed extends TransactionHooks<Statements> {
  subscribe(
    connection: LogConnection,
    listener: (change: LogChange) => void,
    audience: Audience,
  ): () => void
  /** Tells a change of this log object, after its transaction. */
  notify(change: LogChange): void
}

/**
 * What other processes wrote is read behind marks that it shares for all subscribers: by a poll of the file every 100 ms, and
 * in each transaction of our own before its first write, so that ours is never told before theirs.
 */
export function feed(): Feed {
  const subscribers = listeners()
  let marks: Marks | null = null
  let marksOfCommit: Marks | null = null
  let version: unknown
  const foreign: LogChange[] = []
  let timer: NodeJS.Timeout | undefined

  function notifyOfForeign(): void {
    for (const change of foreign.splice(0)) subscribers.notify(change)
  }

  /** Reads on; gives whether there is more. */
  function catchUp(sql: Statements, limit: number): boolean {
    if (!marks) {
      marks = readMarks(sql)
      return false
    }
    const read = readChanges(sql, marks, limit)
    marks = read.marks
    foreign.push(...read.changes)
    return read.more
  }

  /** Reads on where another connection has committed anything; gives whether there is more than was read. */
  function readIfChanged(sql: Statements, limit: number): boolean {
    const now = sql.dataVersion.get()?.data_version
    if (marks && now === version) return false
    const more = catchUp(sql, limit)
    if (!more) version = now
    return more
  }

  async function poll(connection: LogConnection): Promise<void> {
    try {
      while (!connection.closed && connection.glance((sql) => readIfChanged(sql, CHUNK))) {
        notifyOfForeign()
        await pause()
      }
      notifyOfForeign()
    } finally {
      // A poll that failed is not the last one.
      schedule(connection)
    }
  }

  function schedule(connection: LogConnection): void {
    timer = undefined
    if (subscribers.size === 0) marks = null
    else if (!connection.closed)
      timer = setTimeout(() => inBackground('Polling the log', poll(connection)), POLL_MS).unref()
  }

  return {
    subscribe(connection, listener, audience) {
      // Those who are there already hear what came before; the new one does not.
      connection.glance((sql) => catchUp(sql, -1))
      notifyOfForeign()
      const leave = subscribers.add(listener, audience)
      if (!timer) schedule(connection)
      return leave
    },
    notify: subscribers.notify,
    begun(sql) {
      if (subscribers.size > 0) readIfChanged(sql, -1)
    },
    ending(sql) {
      if (subscribers.size > 0) marksOfCommit = readMarks(sql)
    },
    ended(committed) {
      if (committed && marksOfCommit) marks = marksOfCommit
      marksOfCommit = null
      notifyOfForeign()
    },
  }
}

/** The last rows that are known. */
interface Marks {
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
function readMarks(sql: Statements): Marks {
  return {
    record: Number(sql.lastRecord.get()?.seq ?? 0),
    notice: Number(sql.lastNotice.get()?.seq ?? 0),
  }
}

/** Changes behind the marks in the order in which they were stored, of at most `limit` records (-1 for all). */
function readChanges(
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
