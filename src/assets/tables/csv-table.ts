import { Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { parse as parseAll } from 'csv-parse/sync'
import { type ColumnReader, textColumn } from './column.ts'
import { inBatches, rowOf, type Table } from './table.ts'
import type { TableError } from './table-error.ts'
import { broken, headOf, lineAt, MAX_RECORD, type TableSource, textOf } from './table-text.ts'

/** Up to this size the cells of a file are kept between the two passes, instead of being parsed twice. */
const KEEP_BYTES = 8 * 1024 * 1024
const UNCLOSED: ReadonlySet<string> = new Set(['CSV_QUOTE_NOT_CLOSED', 'CSV_MAX_RECORD_SIZE'])
const DELIMITERS = [',', ';', '\t', '|']

/** A CSV (RFC 4180, with the separator that its first line has most often) or TSV; the first line names the columns. */
export async function readCsvTable(source: TableSource, format: 'csv' | 'tsv'): Promise<Table> {
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
  const head = await headOf(source)
  const delimiter = format === 'tsv' ? '\t' : delimiterOf(head)
  const parser = parse({
    delimiter,
    bom: true,
    skip_empty_lines: true,
    relax_quotes: format === 'tsv',
    max_record_size: MAX_RECORD,
  })
  const input = Readable.from(textOf(source))
  input.on('error', (error) => parser.destroy(error))
  input.pipe(parser)
  try {
    yield* inBatches(parser)
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    throw await csvError(source, { delimiter, head }, error)
  } finally {
    input.destroy()
    parser.destroy()
  }
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
  const counts = new Map<string, number>()
  cells.forEach((cell, i) => {
    const name = cell.trim() || `column_${i + 1}`
    let count = counts.get(name) ?? 1
    let unique = name
    while (names.has(unique)) unique = `${name}_${++count}`
    counts.set(name, count)
    names.add(unique)
  })
  return [...names]
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

function reasonOf(error: CsvError, width: number): string {
  switch (error.code) {
    case 'CSV_RECORD_INCONSISTENT_FIELDS_LENGTH': {
      const found = Array.isArray(error.record) ? error.record.length : 'another number of'
      return `it has ${found} ${found === 1 ? 'field' : 'fields'} where the first line has ${width}.`
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
