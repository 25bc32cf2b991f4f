import { open } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { zstdDecompressSync } from 'node:zlib'
import type { DataType, Decimal, RecordBatch, Timestamp, Vector } from 'apache-arrow'
import { errorMessage } from '../../core/errors.ts'
import { type ColumnReader, valueColumn } from './column.ts'
import { columnNames } from './csv-table.ts'
import { LongNumber } from './long-number.ts'
import { dayText, decimalText, plainValue, timeText } from './parquet-values.ts'
import { broken, TableError } from './table-error.ts'
import type { NamedFile } from './table-task.ts'
import { type TableInput, tableLibrary } from './table-text.ts'

type Arrow = typeof import('apache-arrow')

/** Returns the value of a cell by its row. */
type Cells = (row: number) => unknown

const BATCH = 1_000
const DAY_MS = 86_400_000n
const PER_SECOND = [1n, 1_000n, 1_000_000n, 1_000_000_000n]

/** Reads an Arrow file or stream (IPC), one batch of rows at a time. Needs `apache-arrow`. */
export function readArrowTable({ name, path }: NamedFile): TableInput {
  const columns: ColumnReader[] = []
  return {
    columns,
    async *batches() {
      const arrow = await tableLibrary('apache-arrow', { name, purpose: 'Reading Arrow files' })
      arrow.compressionRegistry.set(arrow.CompressionType.ZSTD, {
        decode: (data) => zstdDecompressSync(data),
      })
      const file = await open(path, 'r')
      try {
        const reader = await (await arrow.RecordBatchReader.from(file)).open()
        const names = reader.schema.fields.map((field) => field.name)
        if (columns.length === 0) {
          columns.push(...columnNames({ name }, names).map((one) => valueColumn(one)))
        }
        for await (const batch of reader) yield* rowsOf(arrow, batch)
      } catch (error) {
        if (error instanceof TableError) throw error
        const reason = `it is not an Arrow file that byref can read, or it is damaged (${errorMessage(error)}).`
        throw broken({ name }, null, reason, error)
      } finally {
        await file.close()
      }
    },
  }
}

async function* rowsOf(arrow: Arrow, batch: RecordBatch): AsyncGenerator<unknown[][]> {
  const cells = batch.schema.fields.map((field, i) => {
    return cellsOf(arrow, batch.getChildAt(i) as Vector, field.type)
  })
  for (let start = 0; start < batch.numRows; start += BATCH) {
    // Reading from memory does not yield to the event loop.
    await setImmediate()
    const count = Math.min(BATCH, batch.numRows - start)
    yield Array.from({ length: count }, (_, i) => cells.map((cell) => cell(start + i)))
  }
}

/** Returns how to read the cells of a column without loss, with times as ISO 8601. */
function cellsOf(arrow: Arrow, vector: Vector, type: DataType): Cells {
  const { DataType: types } = arrow
  const [data] = vector.data
  const values = data?.values as ArrayLike<number | bigint>
  const orNull =
    (read: Cells): Cells =>
    (row) =>
      vector.isValid(row) ? read(row) : null
  if (types.isDecimal(type)) return orNull((row) => decimalOf(type, vector.get(row)))
  if (types.isTimestamp(type) || types.isTime(type)) {
    const { unit, timezone } = type as Timestamp
    const zone = timezone ? 'Z' : ''
    // A time of day is a time on the first day of 1970, without the day.
    const start = types.isTime(type) ? '1970-01-01T'.length : 0
    const timeOf = (row: number) => timeText(BigInt(values[row] ?? 0), PER_SECOND[unit] ?? 1n)
    return orNull((row) => `${timeOf(row)?.slice(start)}${zone}`)
  }
  if (types.isDate(type)) {
    const isDays = !(values instanceof BigInt64Array)
    return orNull((row) =>
      dayText(Number(isDays ? values[row] : BigInt(values[row] ?? 0) / DAY_MS)),
    )
  }
  if (types.isDictionary(type)) {
    const cell = cellsOf(arrow, data?.dictionary as Vector, type.dictionary)
    return orNull((row) => cell(Number(values[row])))
  }
  if (types.isStruct(type)) {
    const fields = type.children.map((field, i) => {
      return [field.name, cellsOf(arrow, vector.getChildAt(i) as Vector, field.type)] as const
    })
    return orNull((row) => {
      return Object.fromEntries(fields.map(([name, cell]) => [name, insideJson(cell(row))]))
    })
  }
  if (types.isMap(type)) {
    const entries = cellsOf(
      arrow,
      vector.getChildAt(0) as Vector,
      type.children[0]?.type as DataType,
    )
    const ends = data?.valueOffsets as Int32Array
    return orNull((row) => {
      const [start = 0, end = 0] = ends.subarray(row)
      const places = Array.from({ length: end - start }, (_, i) => start + i)
      return Object.fromEntries(places.map((at) => Object.values(Object(entries(at)))))
    })
  }
  if (types.isList(type) || types.isFixedSizeList(type)) {
    const [item] = type.children
    return orNull((row) => {
      const items = vector.get(row) as Vector
      const cell = cellsOf(arrow, items, item?.type as DataType)
      return Array.from({ length: items.length }, (_, i) => insideJson(cell(i)))
    })
  }
  return (row) => {
    const value: unknown = vector.get(row)
    // Whole numbers stay unchanged: the column chooses their type.
    return typeof value === 'bigint' || typeof value === 'number' ? value : jsonOf(value)
  }
}

function decimalOf({ scale }: Decimal, words: Uint32Array): LongNumber {
  const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength).toReversed()
  return new LongNumber(decimalText(bytes, scale))
}

/** Returns a value inside of a list or an object. Whole numbers beyond 2^53 are text. */
function insideJson(value: unknown): unknown {
  return typeof value === 'bigint' ? plainValue(value) : value
}

/** Converts a nested value, which contains views of the library, to JSON. */
function jsonOf(value: unknown): unknown {
  const { toJSON } = Object(value) as { toJSON?: () => unknown }
  if (typeof toJSON !== 'function' || value instanceof Date) return plainValue(value)
  const plain = toJSON.call(value)
  if (Array.isArray(plain)) return plain.map(jsonOf)
  return Object.fromEntries(Object.entries(Object(plain)).map(([key, item]) => [key, jsonOf(item)]))
}
