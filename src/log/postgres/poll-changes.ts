import type { LogRecord } from '../../core/events/events.ts'
import type { Database } from '../../postgres/database.ts'
import { type RecordRow, soundRecord } from '../record-rows.ts'
import { NOW } from './conversation-rows.ts'

/** How long a transaction may take between reading the clock and its end, and still be found by every poll. */
export const OVERLAP_MS = 5_000

const PAGE = 1_000

/** A conversation that changed, as a poll finds it. */
export interface SeenRow {
  key: number
  namespace: string
  id: string
  position: number
  updated: number
  imported: number
}

/** A notice of what no record says. */
export interface SeenNotice {
  notice: number
  at: number
  key: number
  namespace: string
  id: string
  deleted: boolean
}

/** What changed after a time, and the time of the poll. */
export interface PolledChanges {
  now: number
  rows: SeenRow[]
  notices: SeenNotice[]
}

/** Reads what changed since a time, less the overlap; null is now. */
export async function pollChanges(
  { query }: Database,
  since: number | null,
): Promise<PolledChanges> {
  const clock = await query<{ now: number }>(`SELECT ${NOW} AS now`, [])
  const now = Number(clock.rows[0]?.now)
  const after = (since ?? now) - OVERLAP_MS
  const rows: SeenRow[] = []
  for (let last = { updated: after, key: 0 }; ; ) {
    const page = await query<SeenRow>(
      `SELECT key, namespace, id, position, updated, imported FROM byref.conversations
       WHERE (updated, key) > ($1, $2) ORDER BY updated, key LIMIT ${PAGE}`,
      [last.updated, last.key],
    )
    rows.push(...page.rows)
    const end = page.rows.at(-1)
    if (page.rows.length < PAGE || !end) break
    last = end
  }
  const notices = await query<SeenNotice>(
    `SELECT id AS notice, at, key, namespace, conversation AS id, deleted FROM byref.notices
     WHERE at > $1 ORDER BY at, id`,
    [after],
  )
  return { now, rows, notices: notices.rows }
}

/**
 * Records of a conversation behind a position, or, where that is not known, those since a time, less the overlap, and from a
 * position on at the latest.
 */
export async function recordsSince(
  { query }: Database,
  key: number,
  start: { after: number } | { since: number | null; before: number },
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
  { since, before }: { since: number | null; before: number },
): Promise<number> {
  if (since === null || before === 0) return before
  const { rows } = await query<{ position: number }>(
    `SELECT r.position FROM byref.records r JOIN byref.conversations c ON c.key = r.conversation
     WHERE r.conversation = $1 AND r.position <= $2 AND (r.at <= $3 OR r.position <= c.imported)
     ORDER BY r.position DESC LIMIT 1`,
    [key, before, since - OVERLAP_MS],
  )
  return Number(rows[0]?.position ?? 0)
}
