import type { FieldKey } from '../../core/refs/field-key.ts'
import type { AssetRecord } from '../asset-store.ts'

/**
 * The type of all values of a column: `empty` without values, `mixed` if they differ. Values of `integer` are bigints,
 * because doubles cannot hold all of them. Values of `decimal` are text, because doubles would lose digits. Values of
 * `date` are text in ISO 8601.
 */
export type ColumnType =
  | 'number'
  | 'integer'
  | 'decimal'
  | 'boolean'
  | 'date'
  | 'string'
  | 'object'
  | 'array'
  | 'mixed'
  | 'empty'

/** A column as a table's content has it. `missing` counts its empty cells. */
export interface TableColumn {
  name: string
  type: ColumnType
  missing: number
  /**
   * Why the column stays text although its cells look like numbers or dates: `stays text: its dates can begin with the
   * day or the month`.
   */
  warning?: string
  /** For `decimal`: the maximum number of digits after the decimal point. */
  scale?: number
}

/**
 * How a Parquet file stores a column's values. Times are `local` (without a zone) or `utc`; both count microseconds.
 * `json` is text that contains JSON. Times and decimals that these would write differently are `text`.
 */
export type Storage =
  | 'int32'
  | 'int64'
  | 'double'
  | 'decimal'
  | 'boolean'
  | 'date'
  | 'local'
  | 'utc'
  | 'text'
  | 'json'

/** What the record of a table contains. The rows are the body, as Parquet. */
export interface TableFacts {
  columns: TableColumn[]
  rows: number
  /** Reference to the original file, or null if there is none. */
  source: string | null
}

/** Returns the facts of a table, or null for any other asset. */
export function tableFacts({ attributes }: Pick<AssetRecord, 'attributes'>): TableFacts | null {
  return (attributes.table as TableFacts | undefined) ?? null
}

/** The MIME type of stored tables (registered with IANA). */
export const PARQUET_TYPE = 'application/vnd.apache.parquet'

/** Returns a value as JSON on one line. Integers beyond 2^53, NaN and the infinities become text. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value, (_, item) => {
    const isNoJson = typeof item === 'number' && !Number.isFinite(item)
    return isNoJson || typeof item === 'bigint' ? String(item) : item
  })
}

/** Returns the ids of the tables made from a file, derived from the file's id. */
export function derivedIds(file: string) {
  return {
    table: `${file}-table`,
    sheet: (number: number) => `${file}-${number}`,
    workbook: `${file}-workbook`,
  }
}

/** Returns whether the id of an asset may be the id of a workbook. */
export function isWorkbook(assetId: string): boolean {
  return assetId.endsWith('-workbook')
}

/** Returns whether a path in a table names all of its rows. */
export function isRows(path: readonly FieldKey[] | undefined): boolean {
  return !path || path.join('/') === 'content' || path.join('/') === 'content/rows'
}
