import {
  type AsyncBuffer,
  type ColumnChunk,
  type FileMetaData,
  parquetMetadata,
  parquetRead,
  parquetSchema,
  type RowGroup,
  type SchemaElement,
  type SchemaTree,
} from 'hyparquet'
import { errorMessage } from '../../core/errors.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import { copyBytes } from '../bodies/body.ts'
import type { BodyRanges, ContentCache } from '../content-access.ts'
import { dayText, isDecimal, type ParquetColumn, timeText } from './parquet-values.ts'
import { TableError } from './table-error.ts'

const { brotliDecompressSync, gunzipSync, zstdDecompressSync } = nodeBuiltin('node:zlib')

/** Bytes with random access. */
export type ByteSource = Pick<BodyRanges, 'size' | 'read'>

/** A Parquet file. Only what is requested is read. */
export interface ParquetFile {
  metadata: FileMetaData
  /** The top-level columns. */
  columns: readonly ParquetColumn[]
  rows: number
  /** The row groups: the index of the first row, and the number of rows. */
  groups: readonly { start: number; rows: number }[]
  /**
   * Reads the cells of some columns, given by their positions, in the rows from `start` to `end` of one group, in
   * Parquet's form.
   */
  read(places: readonly number[], start: number, end: number): Promise<unknown[][]>
}

/** Maximum size of the metadata; that of a million groups is smaller. */
const MAX_FOOTER = 64 * 1024 * 1024

/** Maximum size of an uncompressed page. */
const MAX_PAGE = 256 * 1024 * 1024
const TAIL = 64 * 1024

/** Columns that lie within this many bytes are read at once. */
const AHEAD = 256 * 1024

/** Maximum number of columns that are read at once. */
const COLUMNS_AT_ONCE = 100

const ZLIB = { maxOutputLength: MAX_PAGE }
const COMPRESSORS = {
  ZSTD: (input: Uint8Array) => zstdDecompressSync(input, ZLIB),
  GZIP: (input: Uint8Array) => gunzipSync(input, ZLIB),
  BROTLI: (input: Uint8Array) => brotliDecompressSync(input, ZLIB),
}

/**
 * Opens a Parquet file by its metadata, which is kept in the cache.
 *
 * @throws TableError if the file is damaged or not a Parquet file
 */
export async function openParquet(
  source: ByteSource,
  about: { name: string; cache?: { cache: ContentCache; key: string } },
): Promise<ParquetFile> {
  const { cache, key } = about.cache ?? {}
  const known = key === undefined ? undefined : (cache?.get(key) as Description | undefined)
  const { metadata, columns, groups } = known ?? (await describe(source, about.name))
  const file: AsyncBuffer = {
    byteLength: source.size,
    slice: async (start, end) => bufferOf(await readFrom(source, start, end ?? source.size)),
  }
  const opened: ParquetFile = {
    metadata,
    columns,
    groups,
    rows: Number(metadata.num_rows),
    async read(places, start, end) {
      const rows: unknown[][] = Array.from({ length: end - start }, () => [])
      for (let first = 0; first < places.length; first += COLUMNS_AT_ONCE) {
        const some = places.slice(first, first + COLUMNS_AT_ONCE).map((place) => columns[place])
        const part = partOf({ metadata, groups }, some as ParquetColumn[], start)
        const found = await orDamaged(about.name, async () => {
          return cells(await readAhead(file, part), part, end - start)
        })
        if (found.length !== end - start) throw damaged(about.name)
        if (places.length <= COLUMNS_AT_ONCE) return found
        for (const [i, row] of found.entries()) rows[i]?.push(...row)
      }
      return rows
    },
  }
  // Parsed metadata takes about this many times its bytes.
  const weight = metadata.metadata_length * 20
  if (!known && key !== undefined) cache?.set(key, { metadata, columns, groups }, weight)
  return opened
}

/** Some columns of one row group, described as if they were the whole file. */
interface FilePart {
  metadata: FileMetaData
  names: string[]
  start: number
}

/** Returns the part of the group that contains a row. The library searches all columns that it is given. */
function partOf(
  { metadata, groups }: Pick<ParquetFile, 'metadata' | 'groups'>,
  columns: readonly ParquetColumn[],
  row: number,
): FilePart {
  const index = groups.findLastIndex(({ start }) => start <= row)
  const group = metadata.row_groups[index] as RowGroup
  const root = metadata.schema[0] as SchemaElement
  const elements = columns.flatMap(({ elements }) => metadata.schema.slice(...elements))
  return {
    metadata: {
      ...metadata,
      num_rows: group.num_rows,
      schema: [{ ...root, num_children: columns.length }, ...elements],
      row_groups: [
        { ...group, columns: columns.flatMap(({ leaves }) => group.columns.slice(...leaves)) },
      ],
    },
    names: columns.map(({ name }) => name),
    start: row - (groups[index]?.start ?? 0),
  }
}

/** Returns the file, with the bytes of a part read in one request if they lie together. */
async function readAhead(file: AsyncBuffer, { metadata }: FilePart): Promise<AsyncBuffer> {
  const chunks = metadata.row_groups.flatMap(({ columns }) => columns.map(rangeOf))
  const first = Math.min(...chunks.map(([start]) => start))
  const last = Math.max(...chunks.map(([, end]) => end))
  const sum = chunks.reduce((all, [start, end]) => all + end - start, 0)
  if (!(last - first <= Math.max(sum, AHEAD)) || last > file.byteLength) return file
  const ahead = await file.slice(first, last)
  return {
    byteLength: file.byteLength,
    slice(start, end = file.byteLength) {
      const isLoaded = start >= first && end <= last
      return isLoaded ? ahead.slice(start - first, end - first) : file.slice(start, end)
    },
  }
}

/** Returns the byte range of a column in a group. */
function rangeOf({ meta_data }: ColumnChunk): [start: number, end: number] {
  if (!meta_data) return [Number.NaN, Number.NaN]
  const { dictionary_page_offset, data_page_offset, total_compressed_size } = meta_data
  const offsets = [dictionary_page_offset, data_page_offset].filter((one) => one !== undefined)
  const start = Math.min(...offsets.map(Number).filter((offset) => offset > 0))
  return [start, start + Number(total_compressed_size)]
}

function cells(
  file: AsyncBuffer,
  { metadata, names, start }: FilePart,
  count: number,
): Promise<unknown[][]> {
  return new Promise((resolve, reject) => {
    parquetRead({
      file,
      metadata,
      columns: names,
      rowStart: start,
      rowEnd: start + count,
      rowFormat: 'array',
      // Bytes without a declared type stay bytes: they may be text or not.
      utf8: false,
      compressors: COMPRESSORS,
      parsers: PARSERS,
      geoparquet: false,
      useOffsetIndex: true,
      onComplete: resolve,
    }).catch(reject)
  })
}

/** Times are read as text, so that they stay exact. JSON stays text, which the column's type then parses. */
const PARSERS = {
  dateFromDays: dayText,
  timestampFromMilliseconds: (time: bigint) => timeText(time, 1_000n),
  timestampFromMicroseconds: (time: bigint) => timeText(time, 1_000_000n),
  timestampFromNanoseconds: (time: bigint) => timeText(time, 1_000_000_000n),
  jsonFromBytes: (bytes: Uint8Array) => bytes && new TextDecoder().decode(bytes),
}

type Description = Pick<ParquetFile, 'metadata' | 'columns' | 'groups'>

async function describe(source: ByteSource, name: string): Promise<Description> {
  const metadata = await orDamaged(name, async () => parquetMetadata(await footer(source)))
  const tree = parquetSchema(metadata)
  let elementAt = 1
  let leafAt = 0
  const columns = tree.children.map((child): ParquetColumn => {
    const { element, children, count } = child
    const elements = [elementAt, elementAt + count] as const
    const leaves = [leafAt, leafAt + leavesOf(child)] as const
    elementAt = elements[1]
    leafAt = leaves[1]
    const isNested = children.length > 0 || element.repetition_type === 'REPEATED'
    // Copies, because the types are changed below.
    const tree = isNested ? structuredClone(child) : null
    return { name: element.name, element: { ...element }, tree, elements, leaves }
  })
  for (const child of tree.children) {
    withTextKeys(child)
    withoutRounding(child)
  }
  let start = 0
  const groups = metadata.row_groups.map(({ num_rows }) => {
    const rows = Number(num_rows)
    start += rows
    return { start: start - rows, rows }
  })
  if (start !== Number(metadata.num_rows)) throw damaged(name)
  return { metadata, columns, groups }
}

function leavesOf({ children }: SchemaTree): number {
  return children.length === 0 ? 1 : children.reduce((sum, child) => sum + leavesOf(child), 0)
}

/**
 * Makes the library return decimals as they are stored, because it would convert them to doubles. It still converts the
 * keys of maps.
 */
function withoutRounding({ element, children }: SchemaTree): void {
  const isMap = element.converted_type === 'MAP'
  for (const child of children) {
    for (const one of isMap ? child.children.slice(1) : [child]) withoutRounding(one)
  }
  if (!isDecimal(element)) return
  delete element.converted_type
  delete element.logical_type
}

/** Keys of maps without a declared type are text, because they become keys of objects. */
function withTextKeys({ element, children }: SchemaTree): void {
  const key = element.converted_type === 'MAP' ? children[0]?.children[0]?.element : undefined
  if (key?.type === 'BYTE_ARRAY') key.converted_type ??= 'UTF8'
  for (const child of children) withTextKeys(child)
}

async function footer(source: ByteSource): Promise<ArrayBuffer> {
  const tail = await readFrom(source, Math.max(0, source.size - TAIL), source.size)
  const length = new DataView(tail.buffer, tail.byteOffset).getUint32(tail.byteLength - 8, true)
  if (length > MAX_FOOTER || length + 12 > source.size) throw new Error('its footer is invalid')
  const start = source.size - length - 8
  return bufferOf(length + 8 <= tail.byteLength ? tail : await readFrom(source, start, source.size))
}

function bufferOf(bytes: Uint8Array): ArrayBuffer {
  const { buffer, byteOffset, byteLength } = bytes
  const isAll = byteOffset === 0 && byteLength === buffer.byteLength
  return isAll && buffer instanceof ArrayBuffer ? buffer : (copyBytes(bytes).buffer as ArrayBuffer)
}

/** The bytes could not be read; the file may be sound. */
class UnreadError extends Error {}

async function readFrom(source: ByteSource, start: number, end: number): Promise<Uint8Array> {
  try {
    return await source.read(start, end)
  } catch (cause) {
    throw new UnreadError('unread', { cause })
  }
}

async function orDamaged<T>(name: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof UnreadError) throw error.cause
    throw damaged(name, error)
  }
}

function damaged(name: string, cause?: unknown): TableError {
  return new TableError({ name, line: null, reason: reasonOf(errorMessage(cause)) }, { cause })
}

/** Returns why a file cannot be read, from the message of the library. */
function reasonOf(message: string): string {
  const [, type] = /parquet (interval|bson) not supported/.exec(message) ?? []
  if (type !== undefined)
    return `it has a column of the type ${type}, which byref does not support: write it without this column.`
  const [, what, form] = /unsupported (encoding|compression codec): (\w+)/.exec(message) ?? []
  if (what === undefined) return 'it is not a Parquet file that byref can read, or it is damaged.'
  return what === 'encoding'
    ? `its pages are encoded as ${form}, which byref does not support: write it without column encodings.`
    : `its pages are compressed by ${form}, which byref does not support: write it with Zstandard or Snappy.`
}
