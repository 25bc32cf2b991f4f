import { Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { parse as parseAll } from 'csv-parse/sync'
import { type ColumnReader, textColumn } from './column.ts'
import { inBatches, MAX_COLUMNS, type TableInput } from './table.ts'
import type { TableError } from './table-error.ts'
import {
  broken,
  headOf,
  lineAt,
  MAX_RECORD,
  type TableSource,
  textOf,
  tooWide,
} from './table-text.ts'

const UNCLOSED: ReadonlySet<string> = new Set(['CSV_QUOTE_NOT_CLOSED', 'CSV_MAX_RECORD_SIZE'])
const DELIMITERS = [',', ';', '\t', '|']

/** A CSV (RFC 4180, with the separator that its first line has most often) or TSV; the first line names the columns. */
export function readCsvTable(source: TableSource, format: 'csv' | 'tsv'): TableInput {
  let columns: ColumnReader[] | null = null
  return {
    get columns() {
      return columns ?? []
    },
    async *batches() {
      let isFirst = true
      for await (const batch of csvBatches(source, format)) {
        if (isFirst) columns ??= columnNames(source, batch[0] ?? []).map(textColumn)
        yield isFirst ? batch.slice(1) : batch
        isFirst = false
      }
      if (isFirst) throw broken(source, 1, 'the file is empty; a table starts with its header.')
    },
  }
}

/** The records of a CSV, header included, some at a time. */
async function* csvBatches(source: TableSource, format: 'csv' | 'tsv'): AsyncGenerator<string[][]> {
  const head = await headOf(source)
  const delimiter = delimiterOf(head, format)
  const parser = parse({
    delimiter,
    bom: true,
    skip_empty_lines: true,
    // Inches and seconds of arc stand in fields that are not quoted.
    relax_quotes: true,
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
export function delimiterOf(head: string, format: 'csv' | 'tsv'): string {
  if (format === 'tsv') return '\t'
  const line = head.replace(/"(?:[^"]|"")*"/g, '').split(/\r?\n/, 1)[0] ?? ''
  const counts = DELIMITERS.map((delimiter) => line.split(delimiter).length)
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ','
}

/** Names for every column, each once: `column_3` where there is none, `name_2` for the second of a name. */
export function columnNames(source: TableSource, cells: readonly string[]): string[] {
  if (cells.length > MAX_COLUMNS) throw tooWide(source, cells.length)
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
    default:
      return error.message
  }
}
