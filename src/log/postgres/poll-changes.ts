import type { LogRecord } from '../../core/events/events.ts'
import type { Database } from '../../postgres/database.ts'
import { type RecordRow, soundRecord } from '../record-rows.ts'
import { NOW } from './conversation-rows.ts'
import type { Change } from './notifier.ts'

/** Maximum time between a transaction's reading of the clock and its commit, for polls to find it, in milliseconds. */
const OVERLAP_MS = 5_000

const PAGE = 1_000

/** A change that a poll finds. */
export interface PolledChange extends Change {
  /** When it was stored, in milliseconds since 1970. */
  at: number
  /** The last position that was imported. Subscribers do not get imported records. */
  imported: number
}

/** Reads the changes since a time minus the overlap, in the order in which they were stored. Null means now. */
export async function pollChanges(
  { query }: Database,
  since: number | null,
): Promise<{ now: number; changes: PolledChange[] }> {
  const clock = await query<{ now: number }>(`SELECT ${NOW} AS now`, [])
  const now = Number(clock.rows[0]?.now)
  const after = (since ?? now) - OVERLAP_MS
  const { rows: changes } = await query<PolledChange>(
    `SELECT id AS notice, at, key, namespace, conversation AS id, deleted, NULL AS position, 0 AS imported
     FROM byref.notices WHERE at > $1 ORDER BY at, id`,
    [after],
  )
  for (let last = { at: after, key: 0 }; ; ) {
    const { rows } = await query<PolledChange>(
      `SELECT NULL AS notice, updated AS at, key, namespace, id, false AS deleted, position, imported
       FROM byref.conversations WHERE (updated, key) > ($1, $2) ORDER BY updated, key LIMIT ${PAGE}`,
      [last.at, last.key],
    )
    changes.push(...rows)
    const end = rows.at(-1)
    if (rows.length < PAGE || !end) break
    last = end
  }
  return { now, changes: changes.sort((a, b) => a.at - b.at) }
}

/**
 * Returns the records of a conversation after a position. If the position is unknown, returns those since a time minus
 * the overlap, up to the last position.
 */
export async function recordsSince(
  { query }: Database,
  key: number,
  start: { after: number } | { since: number | null; last: number },
): Promise<LogRecord[]> {
  const after = 'after' in start ? start.after : await startOf(query, key, start)
  const { rows } = await query<RecordRow>(
    `SELECT position, at, event, sum FROM byref.records
     WHERE conversation = $1 AND position > $2 ORDER BY position`,
    [key, after],
  )
  return rows.flatMap((row) => soundRecord(row, '') ?? [])
}

async function startOf(
  query: Database['query'],
  key: number,
  { since, last }: { since: number | null; last: number },
): Promise<number> {
  if (since === null || last === 0) return last
  const { rows } = await query<{ position: number }>(
    `SELECT r.position FROM byref.records r JOIN byref.conversations c ON c.key = r.conversation
     WHERE r.conversation = $1 AND r.position <= $2 AND (r.at <= $3 OR r.position <= c.imported)
     ORDER BY r.position DESC LIMIT 1`,
    [key, last, since - OVERLAP_MS],
  )
  return Number(rows[0]?.position ?? 0)
}
