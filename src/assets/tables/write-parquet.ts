import type { RowGroup, SchemaElement } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import { nodeBuiltin } from '../../node-builtin.ts'
import type { Spool } from './spool.ts'
import type { Storage, TableColumn } from './table-facts.ts'
import { uniqueNames } from './unique-names.ts'

const { setImmediate } = nodeBuiltin('node:timers/promises')
const { zstdCompressSync } = nodeBuiltin('node:zlib')

/** Writes a Parquet file, one row group after another. */
export type ParquetOutput = ReturnType<typeof createParquetOutput>

/**
 * Maximum that is written at once, because the writer searches all columns for each column and does not yield to the
 * event loop.
 */
const AT_ONCE = { columns: 100, cells: 25_000 }
const FEW_ROWS = 1_000

const TEXT: Partial<SchemaElement> = {
  type: 'BYTE_ARRAY',
  converted_type: 'UTF8',
  logical_type: { type: 'STRING' },
}

/** The declarations of columns. */
const ELEMENTS: Readonly<Record<Storage, Partial<SchemaElement>>> = {
  int32: { type: 'INT32' },
  int64: { type: 'INT64' },
  double: { type: 'DOUBLE' },
  decimal: { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16, converted_type: 'DECIMAL' },
  boolean: { type: 'BOOLEAN' },
  date: { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } },
  local: timestamp(false),
  utc: timestamp(true),
  text: TEXT,
  json: TEXT,
}

function timestamp(isAdjustedToUTC: boolean): Partial<SchemaElement> {
  return { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC, unit: 'MICROS' } }
}

/** So other programs, and an import of the file, read values instead of text. */
const DECLARED_JSON = { converted_type: 'JSON', logical_type: { type: 'JSON' } } as const

/** Creates the output of a Parquet file with these columns to a spool. */
export function createParquetOutput(
  columns: readonly (Pick<TableColumn, 'name' | 'scale'> & { storage: Storage })[],
  spool: Spool,
) {
  const names = storedNames(columns.map(({ name }) => name))
  const bytes = new ByteWriter()
  const flush = (): Promise<void> => {
    const written = bytes.getBytes()
    bytes.index = 0
    return spool.append(written)
  }
  const elements = columns.map(({ storage, scale }, i) => ({
    ...ELEMENTS[storage],
    ...(storage === 'decimal' && decimalOf(scale)),
    name: names[i] as string,
    repetition_type: 'OPTIONAL' as const,
  }))
  const parquet = new ParquetWriter({
    writer: Object.assign(bytes, { flush, finish: flush }),
    schema: schemaOf(elements),
    codec: 'ZSTD',
    compressors: { ZSTD: (input) => zstdCompressSync(input) },
    statistics: false,
  })
  let rows = 0n

  /** Writes some columns of a row group. The writer treats them as a separate group. */
  async function writePart(
    part: readonly SchemaElement[],
    rowGroupSize: number,
    valuesOf: (column: number) => unknown[],
  ): Promise<RowGroup> {
    parquet.schema = schemaOf(part)
    // A Zstandard page takes a tenth of a millisecond, even if it is small.
    const codec = rowGroupSize < FEW_ROWS ? 'SNAPPY' : 'ZSTD'
    const columnData = part.map(({ name }, i) => {
      return { name, data: valuesOf(i), codec } as const
    })
    await parquet.write({ columnData, rowGroupSize })
    await setImmediate()
    return parquet.row_groups.pop() as RowGroup
  }

  return {
    /** Writes a row group: the stored values of each column, null for empty cells. */
    async write(count: number, valuesOf: (column: number) => unknown[]): Promise<void> {
      if (count === 0) return
      const group: RowGroup = { columns: [], total_byte_size: 0n, num_rows: BigInt(count) }
      const most = Math.max(1, Math.floor(AT_ONCE.cells / count))
      const size = Math.min(AT_ONCE.columns, most)
      for (let first = 0; first < columns.length; first += size) {
        const some = elements.slice(first, first + size)
        const part = await writePart(some, count, (i) => valuesOf(first + i))
        group.columns.push(...part.columns)
        group.total_byte_size += part.total_byte_size
      }
      rows += group.num_rows
      parquet.row_groups.push(group)
    },
    async finish(): Promise<void> {
      // Declared only now, because the writer would encode the text as JSON once more.
      parquet.schema = schemaOf(
        elements.map((element, i) =>
          columns[i]?.storage === 'json' ? { ...element, ...DECLARED_JSON } : element,
        ),
      )
      parquet.num_rows = rows
      await parquet.finish()
    },
  }
}

/** Returns what only the declaration of a decimal has. 16 bytes keep 38 digits. */
function decimalOf(scale = 0): Partial<SchemaElement> {
  const precision = 38
  return { precision, scale, logical_type: { type: 'DECIMAL', precision, scale } }
}

function schemaOf(elements: readonly SchemaElement[]): SchemaElement[] {
  return [{ name: 'root', num_children: elements.length }, ...elements]
}

/**
 * Returns the names of the columns in a Parquet file. Names are changed if they are empty, contain a NUL character,
 * differ only in letter case, or are `__proto__`.
 */
export function storedNames(names: readonly string[]): string[] {
  const bases = names.map((name, i) => {
    const base = name.trim() === '' || name.includes('\0') ? `column_${i + 1}` : name
    return base === '__proto__' ? `${base}_1` : base
  })
  return uniqueNames(bases)
}
