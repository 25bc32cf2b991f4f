import { ByrefError } from '../../errors.ts'
import { type ColumnReader, textColumn, valueColumn } from './column.ts'
import { type WrittenTable, writeTable } from './write-table.ts'

type Result = import('@duckdb/node-api').DuckDBResult

/** SQL's types whose values come as text that says all of their digits. */
const LONG = /^(U?BIGINT|U?HUGEINT|DECIMAL|BIGNUM)/
/** Characters of a result. */
const MOST_CHARACTERS = 32 * 1024 * 1024

/**
 * The rows of a result as a table.
 *
 * @throws ByrefError `result_too_large`
 */
export async function parquetOfResult(result: Result, most: number): Promise<WrittenTable> {
  const types = result.columnTypes().map(String)
  const names = result.deduplicatedColumnNames()
  const columns = names.map((name, i) => readerOf(name, types[i] ?? ''))
  const batches = await allRows(result, most, columns.length)
  const written = await writeTable({
    columns,
    async *batches() {
      yield* batches
    },
  })
  // A result has columns always.
  return written as WrittenTable
}

function readerOf(name: string, type: string): ColumnReader {
  return LONG.test(type) || type === 'DATE' || type.startsWith('TIMESTAMP')
    ? textColumn(name)
    : valueColumn(name)
}

async function allRows(result: Result, most: number, columns: number): Promise<unknown[][][]> {
  const batches: unknown[][][] = []
  let rows = 0
  let characters = 0
  for await (const batch of result.yieldRowsJson()) {
    rows += batch.length
    for (const row of batch) {
      for (let i = 0; i < columns; i++) characters += sizeOf(row[i])
    }
    if (rows > most || characters > MOST_CHARACTERS) throw tooLarge(rows > most ? most : null)
    batches.push(batch)
  }
  return batches
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  return typeof value === 'object' && value !== null ? JSON.stringify(value).length : 1
}

function tooLarge(rows: number | null): ByrefError {
  const what = rows === null ? '32 million characters' : `${rows.toLocaleString('en')} rows`
  return new ByrefError(
    'result_too_large',
    `The result has more than ${what}: aggregate, filter, or add a limit.`,
  )
}
