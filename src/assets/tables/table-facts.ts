import type { AssetRecord } from '../asset-store.ts'

/**
 * What all values of a column are; `empty` when there is none, `mixed` when they differ. Values of `integer` are bigints:
 * whole numbers that doubles cannot all hold. Those of `decimal` are text, because doubles would lose digits; those of
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
  /** Of `decimal`: most digits behind the point. */
  scale?: number
}

/** How a column's values lie in a Parquet file; `json` is text that is JSON. */
export type Storage = 'int32' | 'int64' | 'double' | 'boolean' | 'date' | 'text' | 'json'

/** What the record of a table says of it; its rows are the body, as Parquet. */
export interface TableFacts {
  columns: TableColumn[]
  rows: number
  /** Reference to the file as it came, or null where there is none. */
  source: string | null
}

/** What is known of a table; null for any other asset. */
export function tableFacts({ attributes }: Pick<AssetRecord, 'attributes'>): TableFacts | null {
  return (attributes.table as TableFacts | undefined) ?? null
}

/** What tables are stored as (IANA, application/vnd.apache.parquet). */
export const PARQUET_TYPE = 'application/vnd.apache.parquet'

/** A value as JSON on one line; whole numbers beyond 2^53, NaN and the infinities are text, as elsewhere. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value, (_, item) => {
    const isNoJson = typeof item === 'number' && !Number.isFinite(item)
    return isNoJson || typeof item === 'bigint' ? String(item) : item
  })
}

/** The ids of what is made of a file, by the file's. */
export function derivedIds(file: string) {
  return {
    table: `${file}-table`,
    sheet: (number: number) => `${file}-${number}`,
    workbook: `${file}-workbook`,
  }
}
