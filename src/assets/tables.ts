import { Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { parse as parseAll } from 'csv-parse/sync'
import { putKey } from '../content/json.ts'
import { essenceOf } from './mime-type.ts'
import { headText } from './sniff.ts'
import { type ColumnReader, type TableColumn, textColumn, valueColumn } from './table-column.ts'
import { TableError } from './table-error.ts'

/** The forms in which byref knows tables. */
export type TableFormat = 'csv' | 'tsv' | 'json' | 'ndjson'

/** A table: its columns, and its rows as often as they are asked for. */
export interface Table {
  columns: TableColumn[]
  rowCount: number
  /** All rows in order, some at a time: objects with a key for each column, in the order of the columns. */
  batches(): AsyncIterable<Record<string, unknown>[]>
}

/** Where a table's file can be read, from its beginning, as often as needed. */
export interface TableSource {
  name: string
  size: number
  open(): Promise<ReadableStream<Uint8Array>>
}

/** Up to this size the cells of a file are kept between the two passes, instead of being parsed twice. */
const KEEP_BYTES = 8 * 1024 * 1024
/** Rows that are handed on at once. */
const BATCH = 256
/** Longest text of one record; a quote that is never closed must not swallow the file. */
const MAX_RECORD = 16 * 1024 * 1024
const UNCLOSED: ReadonlySet<string> = new Set(['CSV_QUOTE_NOT_CLOSED', 'CSV_MAX_RECORD_SIZE'])
const DELIMITERS = [',', ';', '\t', '|']

/** The form of table that files of this type have, or null. */
export function tableFormat(mime: string): TableFormat | null {
  switch (essenceOf(mime)) {
    case 'text/csv':
      return 'csv'
    case 'text/tab-separated-values':
      return 'tsv'
    case 'application/json':
      return 'json'
    case 'application/x-ndjson':
      return 'ndjson'
    default:
      return null
  }
}

/**
 * Reads a table in two passes: one finds the columns' types, the other, when the rows are read, converts them. Neither
 * holds the file's text. JSON that is no list of objects is no table: null.
 *
 * @throws TableError for a file that is broken
 */
export async function readTable(source: TableSource, format: TableFormat): Promise<Table | null> {
  if (format === 'json') return readJsonTable(source)
  if (format === 'ndjson') return objectTable(() => ndjsonRows(source))
  return readCsvTable(source, format)
}

async function readCsvTable(source: TableSource, format: 'csv' | 'tsv'): Promise<Table> {
  const kept: string[][][] | null = source.size <= KEEP_BYTES ? [] : null
  let names: string[] | null = null
  let readers: ColumnReader[] = []
  let rowCount = 0
  for await (const batch of csvBatches(source, format)) {
    if (names === null) {
      names = columnNames(batch.shift() ?? [])
      readers = names.map(textColumn)
    }
    for (const cells of batch) {
      for (let i = 0; i < readers.length; i++) readers[i]?.see(cells[i])
    }
    rowCount += batch.length
    kept?.push(batch)
  }
  if (names === null) throw broken(source, 1, 'the file is empty; a table starts with its header.')
  const header = names

  async function* batches(): AsyncGenerator<Record<string, unknown>[]> {
    let first = kept === null
    for await (const batch of kept ?? csvBatches(source, format)) {
      if (first) batch.shift()
      first = false
      yield batch.map((cells) => rowOf(header, readers, cells))
    }
  }
  return { columns: readers.map((reader) => reader.column()), rowCount, batches }
}

/** The records of a CSV, header included, some at a time. */
async function* csvBatches(source: TableSource, format: 'csv' | 'tsv'): AsyncGenerator<string[][]> {
  const text = await openText(source)
  const delimiter = format === 'tsv' ? '\t' : delimiterOf(text.head)
  const parser = parse({
    delimiter,
    bom: true,
    skip_empty_lines: true,
    relax_quotes: format === 'tsv',
    max_record_size: MAX_RECORD,
  })
  const input = Readable.from(text.chunks)
  input.on('error', (error) => parser.destroy(error))
  input.pipe(parser)
  try {
    yield* inBatches(parser)
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    throw await csvError(source, { delimiter, head: text.head }, error)
  } finally {
    input.destroy()
    parser.destroy()
  }
}

async function* inBatches<T>(items: AsyncIterable<T>): AsyncGenerator<T[]> {
  let batch: T[] = []
  for await (const item of items) {
    if (batch.push(item) < BATCH) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

async function readJsonTable(source: TableSource): Promise<Table | null> {
  const text = await openText(source)
  if (!text.head.trimStart().startsWith('[')) {
    await text.chunks.return(undefined)
    return null
  }
  const chunks: string[] = []
  for await (const chunk of text.chunks) chunks.push(chunk)
  let value: unknown
  try {
    value = JSON.parse(chunks.join(''))
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'it is no JSON'
    throw broken(source, null, `${reason}.`, error)
  }
  if (!Array.isArray(value) || value.length === 0 || !value.every(isRow)) return null
  const rows = value
  return objectTable(async function* () {
    yield* rows
  })
}

async function objectTable(source: () => AsyncIterable<Record<string, unknown>>): Promise<Table> {
  const readers = new Map<string, ColumnReader>()
  let rowCount = 0
  for await (const row of source()) {
    for (const key of Object.keys(row)) {
      if (readers.has(key)) continue
      const reader = valueColumn(key)
      for (let i = 0; i < rowCount; i++) reader.see(null)
      readers.set(key, reader)
    }
    for (const [key, reader] of readers) reader.see(Object.hasOwn(row, key) ? row[key] : null)
    rowCount++
  }
  const names = [...readers.keys()]
  const columns = [...readers.values()]
  return {
    columns: columns.map((reader) => reader.column()),
    rowCount,
    async *batches() {
      for await (const batch of inBatches(source())) {
        yield batch.map((row) => {
          const cells = names.map((name) => (Object.hasOwn(row, name) ? row[name] : null))
          return rowOf(names, columns, cells)
        })
      }
    },
  }
}

async function* ndjsonRows(source: TableSource): AsyncGenerator<Record<string, unknown>> {
  const text = await openText(source)
  let line = 0
  for await (const json of linesOf(text.chunks)) {
    line++
    if (json.trim() === '') continue
    let value: unknown
    try {
      value = JSON.parse(json)
    } catch (error) {
      throw broken(source, line, 'it is no JSON.', error)
    }
    if (!isRow(value)) throw broken(source, line, 'it is no JSON object.')
    yield value
  }
}

async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let rest: string[] = []
  for await (const chunk of chunks) {
    const lines = chunk.split('\n')
    for (const line of lines.slice(0, -1)) {
      yield rest.length > 0 ? rest.join('') + line : line
      rest = []
    }
    rest.push(lines.at(-1) ?? '')
  }
  if (rest.some((part) => part !== '')) yield rest.join('')
}

/** The file's text, chunk by chunk: UTF-8, UTF-16 with its mark, else Windows-1252. */
async function openText(
  source: TableSource,
): Promise<{ head: string; chunks: AsyncGenerator<string> }> {
  const reader = (await source.open()).getReader()
  const first = await reader.read()
  const bytes = first.value ?? new Uint8Array()
  const encoding = headText(bytes, first.done)?.encoding ?? 'windows-1252'
  const decoder = new TextDecoder(encoding)
  const head = decoder.decode(bytes, { stream: true })
  async function* chunks(): AsyncGenerator<string> {
    try {
      yield head
      for (;;) {
        const { value, done } = await reader.read()
        if (done) break
        yield decoder.decode(value, { stream: true })
      }
      yield decoder.decode()
    } finally {
      await reader.cancel()
    }
  }
  return { head, chunks: chunks() }
}

/** The separator that the first line has most often outside quotes. */
function delimiterOf(head: string): string {
  const line = head.replace(/"(?:[^"]|"")*"/g, '').split(/\r?\n/, 1)[0] ?? ''
  const counts = DELIMITERS.map((delimiter) => line.split(delimiter).length)
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ','
}

/** Names for every column, each once: `column_3` where there is none, `name_2` for the second of a name. */
function columnNames(cells: string[]): string[] {
  const names = new Set<string>()
  cells.forEach((cell, i) => {
    const name = cell.trim() || `column_${i + 1}`
    let unique = name
    for (let n = 2; names.has(unique); n++) unique = `${name}_${n}`
    names.add(unique)
  })
  return [...names]
}

function rowOf(
  names: string[],
  readers: ColumnReader[],
  cells: readonly unknown[],
): Record<string, unknown> {
  const row: Record<string, unknown> = {}
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string
    putKey(row, name, readers[i]?.read(cells[i]))
  }
  return row
}

function isRow(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function broken(source: TableSource, line: number | null, reason: string, cause?: unknown) {
  return new TableError({ name: source.name, line, reason }, { cause })
}

/** What is wrong with a CSV, and where. */
async function csvError(
  source: TableSource,
  { delimiter, head }: { delimiter: string; head: string },
  error: CsvError,
): Promise<TableError> {
  const { lines, bytes_records: bytes } = error as CsvError & {
    lines?: number
    bytes_records?: number
  }
  // The parser meets a missing quote at the end of the file; its record begins behind the last whole one.
  const line = UNCLOSED.has(error.code) ? await lineAt(source, bytes ?? 0) : (lines ?? null)
  const [header = []] = parseAll(head, { delimiter, bom: true, to: 1, relax_quotes: true })
  return broken(source, line, reasonOf(error, header.length), error)
}

/** The line, from 1, that the byte of the file's text belongs to. */
async function lineAt(source: TableSource, byte: number): Promise<number> {
  const { chunks } = await openText(source)
  let line = 1
  let at = 0
  for await (const chunk of chunks) {
    for (const char of chunk) {
      if (at >= byte) return line
      if (char === '\n') line++
      at += Buffer.byteLength(char)
    }
  }
  return line
}

function reasonOf(error: CsvError, width: number): string {
  switch (error.code) {
    case 'CSV_RECORD_INCONSISTENT_FIELDS_LENGTH': {
      const found = Array.isArray(error.record) ? error.record.length : 'another number of'
      return `it has ${found} fields where the first line has ${width}.`
    }
    case 'CSV_QUOTE_NOT_CLOSED':
    case 'CSV_MAX_RECORD_SIZE':
      return 'a quote is opened and never closed.'
    case 'CSV_INVALID_CLOSING_QUOTE':
      return 'something follows a closing quote.'
    case 'INVALID_OPENING_QUOTE':
      return 'a quote stands inside a field that is not quoted.'
    default:
      return error.message
  }
}
