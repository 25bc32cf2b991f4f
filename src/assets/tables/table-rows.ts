import { checkOptions, is, type OptionTable } from '../../core/check-options.ts'
import { ByrefError } from '../../core/errors.ts'
import { putKey } from '../../core/json/json.ts'
import { indexOf } from '../../core/refs/field-key.ts'
import type { FieldKey } from '../../core/refs/field-path.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import type { AssetRecord } from '../asset-store.ts'
import {
  bodyRanges,
  type ContentAccess,
  cacheKey,
  type FoundField,
  fieldAt,
} from '../content-access.ts'
import { copyContent } from '../copy-content.ts'
import type { ParquetFile } from './parquet-file.ts'
import { type CellReader, cellReader } from './parquet-values.ts'
import { jsonLine, type TableColumn, type TableFacts, tableFacts } from './table-facts.ts'

const { setImmediate } = nodeBuiltin('node:timers/promises')

/** A row of a table: values by the names of the columns, null for an empty cell. */
export type TableRow = Record<string, unknown>

/**
 * Rows of a table, in order, read as they are iterated: `for await (const row of rows)`. They can be iterated
 * repeatedly.
 */
export interface TableRows extends AsyncIterable<TableRow> {
  readonly columns: readonly TableColumn[]
  /** The number of rows. */
  readonly count: number
  /**
   * Selects columns, so that the others are not read, and the rows from `start` up to `end`.
   *
   * @throws ByrefError `invalid_arguments` for an unknown column
   */
  select(part: { columns?: readonly string[]; start?: number; end?: number }): TableRows
}

type Part = Parameters<TableRows['select']>[0]
const PART: OptionTable<Part> = {
  columns: is.listOf(is.string),
  ...is.all(is.number, 'start', 'end'),
}

/** Maximum number of cells that are read at once. */
const MAX_CELLS = 2_000_000

/** A column, and its position in the source of the rows. */
interface Place {
  column: TableColumn
  place: number
}

/** Reads some columns in the rows from `first` to `last`. */
type ReadRows = (places: readonly Place[], first: number, last: number) => AsyncIterator<TableRow>

/** Returns some columns of a source, in the rows from `first` to `last`. */
function rowsFrom(
  read: ReadRows,
  places: readonly Place[],
  { first, last }: { first: number; last: number },
): TableRows {
  return {
    columns: places.map(({ column }) => column),
    count: last - first,
    select(part) {
      const most = last - first
      const { columns: names, start = 0, end = most } = checkOptions('rows.select', part, PART)
      const some = names ? namedPlaces(places, names) : places
      const from = Math.min(first + Math.max(0, start), last)
      const to = Math.max(from, Math.min(first + end, last))
      return rowsFrom(read, some, { first: from, last: to })
    },
    [Symbol.asyncIterator]: () => read(places, first, last),
  }
}

/** Returns the rows of a file. The types of the columns determine their values. */
export function fileRows(
  open: () => Promise<ParquetFile>,
  columns: readonly TableColumn[],
  { count, signal }: { count: number; signal?: AbortSignal },
): TableRows {
  async function* read(places: readonly Place[], first: number, last: number) {
    const file = await open()
    const names = places.map(({ column }) => column.name)
    const readers = places.map((one) => readerOf(file, one))
    const positions = places.map(({ place }) => place)
    for (const [start, end] of slices(file, places.length, { first, last })) {
      signal?.throwIfAborted()
      // Reading from memory does not yield to the event loop.
      await setImmediate()
      for (const cells of await file.read(positions, start, end)) yield rowOf(names, readers, cells)
    }
  }
  return rowsFrom(read, placesOf(columns), { first: 0, last: count })
}

/** Returns rows from a list of objects. Reading any other item throws. */
export function listRows(list: readonly unknown[], ref: string): TableRows {
  const names = new Set<string>()
  for (const row of list.slice(0, 1000)) for (const key of Object.keys(Object(row))) names.add(key)
  const all = placesOf([...names].map((name) => ({ name, type: 'mixed', missing: 0 })))
  async function* read(places: readonly Place[], first: number, last: number) {
    for (const row of list.slice(first, last)) {
      if (typeof row !== 'object' || row === null || Array.isArray(row)) throw noRows(ref)
      // Without a selection, rows keep keys that only later rows have.
      yield places === all ? (row as TableRow) : picked(row as TableRow, places)
    }
  }
  return rowsFrom(read, all, { first: 0, last: list.length })
}

function placesOf(columns: readonly TableColumn[]): Place[] {
  return columns.map((column, place) => ({ column, place }))
}

/** Returns the error for a value without rows. */
export function noRows(ref: string): ByrefError {
  return new ByrefError(
    'invalid_arguments',
    `${ref} is neither a table nor a list of objects: pass a table, such as asset://id/content/rows`,
  )
}

function picked(row: TableRow, places: readonly Place[]): TableRow {
  const some: TableRow = {}
  for (const { column } of places) {
    putKey(some, column.name, Object.hasOwn(row, column.name) ? row[column.name] : null)
  }
  return some
}

function rowOf(
  names: readonly string[],
  readers: readonly CellReader[],
  cells: readonly unknown[],
): TableRow {
  const row: TableRow = {}
  for (let i = 0; i < names.length; i++) putKey(row, names[i] as string, readers[i]?.(cells[i]))
  return row
}

function readerOf(file: ParquetFile, { column, place }: Place): CellReader {
  const stored = file.columns[place]
  if (stored) return cellReader(stored, column.type)
  throw new ByrefError('storage_failed', 'A table has fewer columns than its record says.')
}

/** Yields the ranges that are read at once: the row groups of the file, or parts of groups with very many cells. */
function* slices(
  { groups }: ParquetFile,
  columns: number,
  { first, last }: { first: number; last: number },
): Generator<[start: number, end: number]> {
  const most = Math.max(1, Math.floor(MAX_CELLS / Math.max(1, columns)))
  for (const group of groups) {
    const end = Math.min(group.start + group.rows, last)
    for (let at = Math.max(group.start, first); at < end; at += most) {
      yield [at, Math.min(at + most, end)]
    }
  }
}

function namedPlaces(known: readonly Place[], names: readonly string[]): Place[] {
  const byName = new Map(known.map((one) => [one.column.name, one]))
  return names.map((name) => {
    const place = byName.get(name)
    if (place) return place
    const shown = [...byName.keys()].slice(0, 20).join(', ')
    throw new ByrefError(
      'invalid_arguments',
      `There is no column ${JSON.stringify(name)}; the ${byName.size} columns are ${shown}${byName.size > 20 ? ', …' : ''}`,
    )
  })
}

/** Memory of a row and of a cell in bytes, without their texts. */
const ROW = 64
const CELL = 16

/** Returns the rows of a table asset. Only requested rows are read. */
export function tableRows(
  record: AssetRecord,
  { columns, rows }: TableFacts,
  { store, cache, signal }: Pick<ContentAccess, 'store' | 'cache'> & { signal?: AbortSignal },
): TableRows {
  const name = record.name ?? record.assetId
  const kept = { cache, key: cacheKey(record, 'parquet') }
  const open = async () => {
    const { openParquet } = await import('./parquet-file.ts')
    return openParquet(await bodyRanges(record, store, signal), { name, cache: kept })
  }
  return fileRows(open, columns, { count: rows, signal })
}

/**
 * Returns the field at a path in the content of a table: `columns`, `rows` and `source`. Reading a row or a cell reads a
 * range of the body.
 */
export async function tableField(
  record: AssetRecord,
  path: readonly FieldKey[],
  access: ContentAccess,
): Promise<FoundField> {
  const facts = tableFacts(record) as TableFacts
  const { columns, source } = facts
  const rows = tableRows(record, facts, access)
  const allRows = () => readRows(rows, record, access.limits.valueBytes)
  const [field, ...rest] = path
  switch (field) {
    case undefined:
      return {
        isFound: true,
        value: { columns: copyContent(columns), rows: await allRows(), source },
      }
    case 'columns':
      return fieldAt(copyContent(columns), rest, 1)
    case 'source':
      return fieldAt(source, rest, 1)
    case 'rows':
      return rest.length > 0 ? fieldInRow(rows, rest) : { isFound: true, value: await allRows() }
    default:
      return { isFound: false, container: { columns: null, rows: null, source: null }, depth: 0 }
  }
}

/** Returns all rows of a table, which the caller may change. */
async function readRows(rows: TableRows, record: AssetRecord, limit: number): Promise<TableRow[]> {
  const least = rows.count * (ROW + rows.columns.length * CELL)
  if (least > limit) throw tooMany(record, rows.count)
  const found: TableRow[] = []
  let size = 0
  for await (const row of rows) {
    size += sizeOf(row)
    if (size > limit) throw tooMany(record, rows.count)
    found.push(row)
  }
  return found
}

/** Returns a field in a row, by the index of the row and the name of a column. */
async function fieldInRow(
  rows: TableRows,
  [index, ...path]: readonly FieldKey[],
): Promise<FoundField> {
  const start = indexOf(index)
  const { count } = rows
  // A list with the table's length, so that an error can name the length.
  const missing = { isFound: false, container: new Array(count), depth: 1 } as const
  if (start === -1 || start >= count) return missing
  const isNamed = rows.columns.some(({ name }) => name === path[0])
  const columns = isNamed ? [String(path[0])] : undefined
  const part = rows.select({ start, end: start + 1, columns })
  for await (const row of part) return fieldAt(row, path, 2)
  return missing
}

function sizeOf(row: TableRow): number {
  let size = ROW
  for (const value of Object.values(row)) {
    size += CELL
    if (typeof value === 'string') size += value.length
    else if (typeof value === 'object' && value !== null) size += jsonLine(value).length
  }
  return size
}

function tooMany({ assetId }: AssetRecord, count: number): ByrefError {
  return new ByrefError(
    'asset_too_large',
    `Table ${JSON.stringify(assetId)} has ${count.toLocaleString('en')} rows, too many to become one value (limits.valueBytes): name a row or a cell (content/rows/0/column), read rows in pages, give them to a parameter that takes rows one by one (asset_ref_as: "rows"), or ask by query_tables.`,
  )
}
