import type { TableRow, TableRows } from '../src/assets/tables/table-rows.ts'
import { ByrefError } from '../src/core/errors.ts'

/** Number of rows between two progress reports. */
const STEP = 100_000

/**
 * Rejects values without rows, or without these columns.
 *
 * @throws ByrefError `invalid_arguments`
 */
export function requireRows(rows: TableRows, columns: readonly string[]): void {
  if (rows.count === 0) throw new ByrefError('invalid_arguments', 'There are no rows')
  rows.select({ columns })
}

/** Returns the rows, and reports how many of them were read. */
export async function* withProgress(
  rows: TableRows,
  {
    verb,
    progress,
    signal,
  }: {
    verb: string
    progress: (message: string, fraction?: number) => void
    signal?: AbortSignal
  },
): AsyncGenerator<TableRow> {
  const all = rows.count.toLocaleString('en')
  progress(`${verb} ${all} rows`, 0)
  let done = 0
  for await (const row of rows) {
    yield row
    if (++done % STEP > 0) continue
    signal?.throwIfAborted()
    progress(`${verb} ${done.toLocaleString('en')} of ${all} rows`, done / rows.count)
  }
}
