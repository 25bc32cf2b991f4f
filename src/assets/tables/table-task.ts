import type { ByrefErrorCode } from '../../core/errors.ts'
import type { DocumentForm } from '../documents/document-form.ts'
import type { TableColumn } from './table-facts.ts'

/** A table that a query names, as a file of the task's folder. */
export interface BoundTable {
  /** In the query. */
  name: string
  file: string
  columns: readonly TableColumn[]
}

/** What a table process does. Its results are files of the task's folder: see {@link resultFile}. */
export type TableTask = { folder: string } & (
  | { type: 'query'; sql: string; tables: readonly BoundTable[]; rows: number }
  | { type: 'xlsx' | 'arrow'; name: string; path: string }
  /** A file that is the table already: nothing is written. */
  | { type: 'parquet'; name: string; path: string }
  /** By DuckDB. */
  | { type: 'csv' | 'tsv'; name: string; path: string; size: number }
  /** The text of a document, a line of JSON for each page; its columns say nothing. */
  | { type: 'text'; form: DocumentForm; name: string; path: string }
)

/** A sheet of a workbook; its number counts from 1. */
export interface SheetName {
  name: string
  number: number
}

/** A table that a task made. */
export interface TaskResult {
  /** The sheet that it was, in a workbook. */
  sheet?: SheetName
  columns: TableColumn[]
  rows: number
}

/** What a table process tells of its task. */
export type TaskMessage =
  /** Which part is done, from 0 to 1. */
  | { type: 'progress'; part: number }
  /** `found`: empty where the file is not a table. `memory`: bytes that the process has taken since its start. */
  | { type: 'done'; found: TaskResult[]; memory: number }
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

/** The file of a task's result; a workbook has several. */
export function resultFile(index: number): string {
  return index === 0 ? RESULT : `${index}-${RESULT}`
}
