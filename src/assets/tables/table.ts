import type { ColumnReader } from './column.ts'

/** A table as it is read from a file, as often as needed. */
export interface TableInput {
  /** One for each column that has come so far; whoever reads the rows shows them their cells. */
  readonly columns: readonly ColumnReader[]
  /**
   * All rows in order, some at a time: cells in the order of the columns, fewer where the last are missing. Null where the
   * file turns out to be no table.
   */
  batches(): AsyncIterable<readonly (readonly unknown[])[] | null>
}

/** Rows that are handed on at once. */
const BATCH = 256
/** As many as a table may have: what Parquet says of itself grows with them. */
export const MAX_COLUMNS = 5_000

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
