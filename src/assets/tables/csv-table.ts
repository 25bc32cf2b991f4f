import { CsvError, parse } from '#csv-parse'
import { nodeBuiltin } from '../../node-builtin.ts'
import { inBatches } from '../in-batches.ts'
import { createPauses } from '../pauses.ts'
import { type ColumnReader, textColumn } from './column.ts'
import { broken, MAX_COLUMNS, type TableError, tooWide } from './table-error.ts'
import {
  BATCH_ROWS,
  checkDense,
  headOf,
  lineAt,
  MAX_RECORD,
  type TableInput,
  type TableSource,
  textOf,
} from './table-text.ts'
import { uniqueNames } from './unique-names.ts'

const { Readable } = nodeBuiltin('node:stream')

const PIECE = 64 * 1024

/** Up to this many columns may be empty in all rows but one. */
const FEW_COLUMNS = 100
const DELIMITERS = [',', ';', '\t', '|']

/** A first line such as `sep=;`, which Excel reads and does not show. */
const SEPARATOR_LINE = /^"?sep=([^\w\s"]|\t)"?(?=[\r\n]|$)/iu

/**
 * Reads a CSV (RFC 4180, with the most frequent separator of its first line, or that of a line `sep=;`) or TSV file. The
 * first line names the columns. Missing cells are empty; cells beyond the header become columns.
 */
export function readCsvTable(source: TableSource, format: 'csv' | 'tsv'): TableInput {
  const columns: ColumnReader[] = []
  return {
    columns,
    async *batches() {
      const check = checkDense(source, 'a few of its rows are far longer than the others.')
      const head = await headOf(source)
      const dialect = dialectOf(head, format)
      const create = localColumns(dialect)
      let isFirst = true
      for await (const batch of csvBatches(source, head, dialect)) {
        if (columns.length === 0) columns.push(...columnNames(source, batch[0] ?? []).map(create))
        const rows = isFirst ? batch.slice(1) : batch
        for (const row of rows) {
          // Empty cells at the end of a row do not make columns.
          const width = row.findLastIndex((cell) => cell.trim() !== '') + 1
          if (width > columns.length) widen(source, columns, { width, create })
        }
        yield rows
        if (columns.length > FEW_COLUMNS) {
          const cells = rows.reduce((sum, row) => sum + row.length, 0)
          check(columns.length, rows.length, cells)
        }
        isFirst = false
      }
      if (isFirst) throw broken(source, 1, 'the file is empty; a table starts with its header.')
    },
  }
}

/** Returns how to create the columns of a file, whose cells may be written as people do. */
export function localColumns({ delimiter }: Dialect): (name: string) => ColumnReader {
  const commaColumns = new Set<string>()
  const hasSemicolons = delimiter === ';'
  return (name) => textColumn(name, { local: true, commaColumns, hasSemicolons })
}

/** Returns the line breaks of a file. The parser would detect them, but slowly in a long first line. */
function lineBreaksOf(head: string): string[] {
  if (head.includes('\n')) return ['\r\n', '\n']
  // Old files have a lone CR.
  return head.includes('\r') ? ['\r'] : ['\r\n', '\n', '\r']
}

/** Yields the records of a CSV file, header included, in batches. */
async function* csvBatches(
  source: TableSource,
  head: string,
  { delimiter, headerLine }: Dialect,
): AsyncGenerator<string[][]> {
  const parser = parse({
    delimiter,
    from_line: headerLine,
    record_delimiter: lineBreaksOf(unquoted(head)),
    bom: true,
    skip_empty_lines: true,
    relax_column_count: true,
    // Fields without quotes may contain quotes as units, such as inches.
    relax_quotes: true,
    max_record_size: MAX_RECORD,
  })
  const input = Readable.from(source.encoding === 'utf-8' ? pieces(source) : textOf(source))
  input.on('error', (error) => parser.destroy(error))
  input.pipe(parser)
  try {
    yield* inBatches(parser, BATCH_ROWS)
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    throw await csvError(source, error)
  } finally {
    input.destroy()
    parser.destroy()
  }
}

/** Yields the bytes of a file in small pieces, so that parsing does not block for long. */
async function* pieces(source: TableSource): AsyncGenerator<Uint8Array> {
  const pause = createPauses()
  for await (const chunk of await source.open()) {
    for (let at = 0; at < chunk.byteLength; at += PIECE) {
      yield chunk.subarray(at, at + PIECE)
      await pause()
    }
  }
}

/** Returns whether text without a type is CSV: one separator divides each line of its beginning into as many cells. */
export async function isCsv(source: TableSource): Promise<boolean> {
  const head = await headOf(source)
  const lines = unquoted(head).split(/\r?\n/)
  // The last line may be cut.
  if (Buffer.byteLength(head) < source.size) lines.pop()
  const { delimiter, headerLine } = dialectOf(head, 'csv')
  const [first = 0, ...more] = lines
    .slice(headerLine - 1)
    .filter((line) => line.trim() !== '')
    .map((line) => line.split(delimiter).length)
  return first > 1 && more.length > 0 && more.every((cells) => cells === first)
}

/** The separator of a file, and the line of its header, from 1. */
export interface Dialect {
  delimiter: string
  headerLine: number
}

/** Returns the separator that the first line states, or the one that is most frequent in it, outside quotes. */
export function dialectOf(head: string, format: 'csv' | 'tsv'): Dialect {
  const stated = SEPARATOR_LINE.exec(head)?.[1]
  if (stated !== undefined) return { delimiter: stated, headerLine: 2 }
  if (format === 'tsv') return { delimiter: '\t', headerLine: 1 }
  const line = unquoted(head).split(/\r?\n/, 1)[0] ?? ''
  const counts = DELIMITERS.map((delimiter) => line.split(delimiter).length)
  const delimiter = DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ','
  return { delimiter, headerLine: 1 }
}

/** Returns a text without the cells in quotes. A quote inside of a cell, as a unit, is text. */
function unquoted(head: string): string {
  return head.replace(/(^|[,;\t|\r\n])"(?:[^"]|"")*"/g, '$1')
}

/** Returns a unique name for every column: `column_3` without a name, `name_2` for the second of a name. */
export function columnNames(source: Pick<TableSource, 'name'>, cells: readonly string[]): string[] {
  if (cells.length > MAX_COLUMNS) throw tooWide(source, cells.length)
  return uniqueNames(cells.map((cell, i) => cell.trim() || `column_${i + 1}`))
}

/** Adds columns without names up to a width. */
export function widen(
  source: Pick<TableSource, 'name'>,
  columns: ColumnReader[],
  { width, create }: { width: number; create: (name: string) => ColumnReader },
): void {
  const names = columns.map((reader) => reader.column().name)
  const all = columnNames(source, [...names, ...new Array(width - names.length).fill('')])
  columns.push(...all.slice(names.length).map(create))
}

/** Describes what is wrong with a CSV file, and where. */
async function csvError(source: TableSource, error: CsvError): Promise<TableError> {
  const { lines, bytes, column } = error as CsvError & CsvErrorPlace
  const isTooLong = error.code === 'CSV_MAX_RECORD_SIZE'
  if (!isTooLong && error.code !== 'CSV_QUOTE_NOT_CLOSED') {
    return broken(source, lines ?? null, error.message, error)
  }
  if (isTooLong && Number(column) > MAX_COLUMNS) {
    return tooWide(source, Number(column), { hasMore: true })
  }
  // The parser notices a missing quote only at the end of the file. `bytes` is the end of the last complete field.
  const line = await lineAt(source, bytes ?? 0)
  const reason = isTooLong
    ? 'a row has more than 64 MB. Perhaps a quote is opened and never closed.'
    : 'a quote is opened and never closed.'
  return broken(source, line, reason, error)
}

/** Where the parser stopped: its number of line breaks and bytes, and the cells of the record so far. */
interface CsvErrorPlace {
  lines?: number
  bytes?: number
  column?: number
}
