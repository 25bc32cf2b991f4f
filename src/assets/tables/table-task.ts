import type { ByrefErrorCode } from '../../core/errors.ts'
import type { DocumentForm } from '../bodies/mime-type.ts'
import type { TableColumn } from './table-facts.ts'

/** A table of a query, as a file in the task's folder. */
export interface BoundTable {
  /** Its name in the query. */
  name: string
  file: string
  columns: readonly TableColumn[]
}

/** A file for a table process, and its name for errors. */
export interface NamedFile {
  name: string
  path: string
}

/** A task for a table process. Its results are files in the task's folder: see {@link resultFile}. */
export type TableTask = { folder: string } & (
  | { type: 'query'; sql: string; tables: readonly BoundTable[]; rows: number }
  | ({ type: 'xlsx' | 'arrow' } & NamedFile)
  /** A file that already is the table, so nothing is written. */
  | ({ type: 'parquet' } & NamedFile)
  /** Read by DuckDB. */
  | ({ type: 'csv' | 'tsv'; size: number } & NamedFile)
  /** The text of a document, at most `most` bytes, with a line of JSON for each page. The columns are not used. */
  | ({ type: 'text'; form: DocumentForm; most: number } & NamedFile)
)

/** A sheet of a workbook; its number counts from 1. */
export interface SheetName {
  name: string
  number: number
}

/** A table that a task made. */
export interface TaskResult {
  /** The sheet in a workbook. */
  sheet?: SheetName
  columns: TableColumn[]
  rows: number
}

/** A message from a table process about its task. */
export type TaskMessage =
  /** The part that is done, from 0 to 1. */
  | { type: 'progress'; part: number }
  /**
   * `found`: the results, empty if the file is not a table. `memory`: bytes that the process has taken since its start.
   */
  | { type: 'done'; found: TaskResult[]; memory: number }
  | { type: 'failed'; error: TaskError; memory: number }

/** An error in a message between processes. */
export interface TaskError {
  /** Null for an unexpected error. */
  code: ByrefErrorCode | null
  message: string
  /** Whether memory ran out. */
  isMemory: boolean
  /** Present if a table cannot be read. */
  table?: { line: number | null; reason: string }
}

export const RESULT = 'result.parquet'

/** Returns the file name of a task's result. A workbook has several results. */
export function resultFile(index: number): string {
  return index === 0 ? RESULT : `${index}-${RESULT}`
}
