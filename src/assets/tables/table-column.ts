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
