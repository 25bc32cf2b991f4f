import type { ByrefErrorCode } from '../../errors.ts'
import type { TableColumn } from './table-column.ts'

/** A table that a query names, as a file of the task's folder. */
export interface BoundTable {
  /** In the query. */
  name: string
  file: string
  columns: readonly TableColumn[]
}

/** What a table process does. Its result is the file {@link RESULT} of the task's folder. */
export type TableTask = { folder: string } & (
  | { type: 'query'; sql: string; tables: readonly BoundTable[]; rows: number }
  | { type: 'xlsx' | 'arrow'; name: string; path: string }
  /** A file that is the table already: nothing is written. */
  | { type: 'parquet'; name: string; path: string }
  /** By DuckDB. */
  | { type: 'csv' | 'tsv'; name: string; path: string; size: number }
)

/** What a task found. */
export interface TaskResult {
  columns: TableColumn[]
  rows: number
}

/** What a table process tells of its task. */
export type TaskMessage =
  /** Which part is done, from 0 to 1. */
  | { type: 'progress'; part: number }
  /** `found`: null where the file turned out to be no table. `memory`: bytes that the process has taken beside those of its start. */
  | { type: 'done'; found: TaskResult | null; memory: number }
  | { type: 'failed'; error: TaskError; memory: number }

/** An error as it travels between processes. */
export interface TaskError {
  /** Null where it is nobody's but ours. */
  code: ByrefErrorCode | null
  message: string
  /** There was no memory for it. */
  isMemory: boolean
  /** Of a table that cannot be read. */
  table?: { line: number | null; reason: string }
}

export const RESULT = 'result.parquet'
