import type { Query } from '../../postgres/database.ts'
import { RUN_CHANGES, RUN_COLUMNS, rowOfRun } from '../run-rows.ts'
import type { StoredRun } from '../runs.ts'

const TYPES = `run text, status text, agent text, error text, started bigint, finished bigint, models text,
  tools text, input double precision, cached double precision, output double precision, cost double precision,
  unpriced integer, split smallint, data text`

/** The time of the append replaces missing times. */
const TIMES: Readonly<Record<string, string>> = {
  started: 'coalesce(r.started, now)',
  finished: `CASE WHEN r.status NOT IN ('running', 'waiting') THEN coalesce(r.finished, now) END`,
}

/**
 * Returns SQL that stores the runs in a parameter of {@link runsJson}. `of` is a table with the `key` and the
 * `namespace` of the conversation, and the time `now`.
 */
export function insertRuns(of: string, parameter: string): string {
  return `INSERT INTO byref.runs (conversation, namespace, ${RUN_COLUMNS.join(', ')})
    SELECT key, namespace, ${RUN_COLUMNS.map((name) => TIMES[name] ?? `r.${name}`).join(', ')}
    FROM ${of}, json_to_recordset(${parameter}::json) AS r (${TYPES})
    ON CONFLICT (conversation, run) DO UPDATE SET ${RUN_CHANGES}`
}

/** Returns runs as a parameter of {@link insertRuns}. Times that are not a number are missing. */
export function runsJson(runs: readonly StoredRun[]): string {
  return JSON.stringify(runs.map(rowOfRun))
}

const PUT = insertRuns(
  '(SELECT key, namespace, updated AS now FROM byref.conversations WHERE key = $1) AS c',
  '$2',
)

/** Stores the runs of a conversation, in a transaction. */
export async function putRuns(
  query: Query,
  key: number,
  runs: readonly StoredRun[],
): Promise<void> {
  if (runs.length > 0) await query(PUT, [key, runsJson(runs)])
}
