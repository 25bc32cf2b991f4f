import { ByrefError } from '../../core/errors.ts'
import type { AssetInfo } from '../asset-info.ts'

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
