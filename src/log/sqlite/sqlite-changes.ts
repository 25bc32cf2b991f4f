import type { LogRecord } from '../../core/events/events.ts'
import { inBackground } from '../../core/in-background.ts'
import type { TransactionHooks } from '../../sqlite/write-queue.ts'
import type { LogChange } from '../conversation-log.ts'
import { type Audience, Listeners } from '../listeners.ts'
import { CHUNK, pause } from '../pause.ts'
import { type RecordRow, soundRecord } from '../record-rows.ts'
import { type LogConnection, rowsOf, type Statements } from './statements.ts'

/** Time between two polls, in milliseconds. */
const POLL_MS = 100

/**
 * Passes all changes of the file to subscribers. Changes of other processes are read after marks that all subscribers
 * share: by a poll every 100 ms, and in each transaction of this process before its first write, so that they are
 * delivered in order.
 */
export class SqliteChanges implements TransactionHooks<Statements> {
  readonly #subscribers = new Listeners()
  #marks: Marks | null = null
  #marksOfCommit: Marks | null = null
  #version: unknown
  #foreign: LogChange[] = []
  #timer: NodeJS.Timeout | undefined

  subscribe(
    connection: LogConnection,
    listener: (change: LogChange) => void,
    audience: Audience,
  ): () => void {
    // Existing subscribers get earlier changes first. The new one does not get them.
    connection.tryRead((sql) => this.#catchUp(sql, -1))
    this.#notifyOfForeign()
    const leave = this.#subscribers.add(listener, audience)
    if (!this.#timer) this.#schedule(connection)
    return leave
  }

  /** Publishes a change of this process, after its transaction. */
  notify(change: LogChange): void {
    this.#subscribers.notify(change)
  }

  begun(sql: Statements): void {
    if (this.#subscribers.size > 0) this.#readIfChanged(sql, -1)
  }

  ending(sql: Statements): void {
    if (this.#subscribers.size > 0) this.#marksOfCommit = readMarks(sql)
  }

  ended(committed: boolean): void {
    if (committed && this.#marksOfCommit) this.#marks = this.#marksOfCommit
    this.#marksOfCommit = null
    this.#notifyOfForeign()
  }

  #notifyOfForeign(): void {
    const changes = this.#foreign
    this.#foreign = []
    for (const change of changes) this.#subscribers.notify(change)
  }

  /** Reads the next changes. Returns whether there is more. */
  #catchUp(sql: Statements, limit: number): boolean {
    if (!this.#marks) {
      this.#marks = readMarks(sql)
      return false
    }
    const { marks, changes, more } = readChanges(sql, this.#marks, limit)
    this.#marks = marks
    this.#foreign.push(...changes)
    return more
  }

  /** Reads the next changes, if another connection has committed. Returns whether there is more. */
  #readIfChanged(sql: Statements, limit: number): boolean {
    const now = sql.dataVersion.get()?.data_version
    if (this.#marks && now === this.#version) return false
    const more = this.#catchUp(sql, limit)
    if (!more) this.#version = now
    return more
  }

  async #poll(connection: LogConnection): Promise<void> {
    const read = (sql: Statements) => this.#readIfChanged(sql, CHUNK)
    try {
      while (!connection.closed && connection.tryRead(read)) {
        this.#notifyOfForeign()
        await pause()
      }
      this.#notifyOfForeign()
    } finally {
      this.#schedule(connection)
    }
  }

  #schedule(connection: LogConnection): void {
    this.#timer = undefined
    if (this.#subscribers.size === 0) this.#marks = null
    else if (!connection.closed) {
      const poll = () => inBackground('Polling the log', this.#poll(connection))
      this.#timer = setTimeout(poll, POLL_MS).unref()
    }
  }
}

/** The last rows that were read. */
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
  /** The id of the last record before the notice. */
  record: number
  namespace: string
  conversation: string
  deleted: number
}

/** Returns the last rows of the file. */
function readMarks(sql: Statements): Marks {
  return {
    record: Number(sql.lastRecord.get()?.seq ?? 0),
    notice: Number(sql.lastNotice.get()?.seq ?? 0),
  }
}

/** Returns the changes after the marks in the order they were stored, with at most `limit` records (-1 for all). */
function readChanges(
  sql: Statements,
  { record, notice }: Marks,
  limit: number,
): { changes: LogChange[]; marks: Marks; more: boolean } {
  const last = readMarks(sql).record
  const rows = rowsOf<ChangedRow>(sql.recordsBetween.all(record, last, limit))
  const more = rows.length === limit
  const end = more ? (rows.at(-1)?.id ?? last) : last
  const notices = rowsOf<NoticeRow>(sql.noticesBetween.all(notice, end))
  const marks = { record: end, notice: notices.at(-1)?.id ?? notice }
  return { changes: changesOf(rows, notices), marks, more }
}

/** Returns records and notices as changes, in their order. Consecutive records of one conversation are one change. */
function changesOf(rows: readonly ChangedRow[], notices: readonly NoticeRow[]): LogChange[] {
  const changes: LogChange[] = []
  let next = 0
  let open: (LogChange & { records: LogRecord[] }) | null = null
  const addNotices = (before: number): void => {
    for (let row = notices[next]; row && row.record < before; row = notices[++next]) {
      changes.push({ ...placeOf(row), records: [], ...(row.deleted ? { deleted: true } : {}) })
      open = null
    }
  }
  for (const row of rows) {
    addNotices(row.id)
    const place = placeOf(row)
    if (open?.conversation !== place.conversation || open.namespace !== place.namespace) {
      open = { ...place, records: [] }
      changes.push(open)
    }
    const record = soundRecord(row, row.conversation)
    if (record) open.records.push(record)
  }
  addNotices(Number.POSITIVE_INFINITY)
  return changes
}

function placeOf(row: { namespace: string; conversation: string }): {
  conversation: string
  namespace: string | null
} {
  return { conversation: row.conversation, namespace: row.namespace || null }
}
