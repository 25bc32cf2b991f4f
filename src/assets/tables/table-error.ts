import { ByrefError } from '../../core/errors.ts'
import type { AssetInfo } from '../asset-store.ts'

/** A file that should be a table and cannot be read as one. `asset` is the file itself, which was saved. */
export class TableError extends ByrefError {
  /** The line that cannot be read, from 1. Null if the error has no line. */
  readonly line: number | null
  readonly reason: string
  readonly asset: AssetInfo | null

  constructor(
    about: { name: string; line: number | null; reason: string; asset?: AssetInfo | null },
    options: { cause?: unknown } = {},
  ) {
    const where = about.line === null ? '' : `, line ${about.line}`
    super('table_invalid', `${about.name}${where}: ${about.reason}`, options)
    this.line = about.line
    this.reason = about.reason
    this.asset = about.asset ?? null
  }
}

/** Returns the error for a file that cannot be read as a table. */
export function broken(
  { name }: { name: string },
  line: number | null,
  reason: string,
  cause?: unknown,
): TableError {
  return new TableError({ name, line, reason }, { cause })
}

/** Maximum number of columns: the metadata of Parquet grows with them. */
export const MAX_COLUMNS = 5_000

/** Returns the error for a table with too many columns. `hasMore` says that not all columns were counted. */
export function tooWide(
  source: { name: string },
  columns: number,
  { hasMore = false } = {},
): TableError {
  const most = MAX_COLUMNS.toLocaleString('en')
  const count = hasMore ? 'more than ' : ''
  const reason = `it has ${count}${columns.toLocaleString('en')} columns, and a table has at most ${most}: write them as rows.`
  return broken(source, 1, reason)
}
