import { putKey } from '../../content/json.ts'
import type { ColumnReader, TableColumn } from './column.ts'

/** A table: its columns, and its rows as often as they are asked for. */
export interface Table {
  columns: TableColumn[]
  rowCount: number
  /** All rows in order, some at a time: objects with a key for each column, in the order of the columns. */
  batches(): AsyncIterable<Record<string, unknown>[]>
}

/** Rows that are handed on at once. */
const BATCH = 256

/** Items some at a time, so that not every one costs a turn of the event loop. */
export async function* inBatches<T>(items: AsyncIterable<T>): AsyncGenerator<T[]> {
  let batch: T[] = []
  for await (const item of items) {
    if (batch.push(item) < BATCH) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

/** A row: its cells by the columns' names, as values of the columns' types. */
export function rowOf(
  names: readonly string[],
  readers: readonly ColumnReader[],
  cells: readonly unknown[],
): Record<string, unknown> {
  const row: Record<string, unknown> = {}
  for (let i = 0; i < names.length; i++) {
    putKey(row, names[i] as string, readers[i]?.read(cells[i]))
  }
  return row
}
