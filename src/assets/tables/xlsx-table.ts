import type { Row } from 'read-excel-file/node'
import { valueColumn } from './column.ts'
import { columnNames, widen } from './csv-table.ts'
import { broken } from './table-error.ts'
import type { NamedFile } from './table-task.ts'
import { type TableInput, tableLibrary } from './table-text.ts'
import { type WrittenTable, writeTable } from './write-table.ts'

/** The library's type names the class instead of its instances. */
type ExcelCell = Exclude<Row[number], typeof Date> | Date | null

type Cell = string | number | boolean | null

/** A sheet of a workbook: its rows, without empty ones. */
interface Sheet {
  sheet: string
  rows: Cell[][]
}

const BATCH = 1_000

/** Spreadsheets count days from this date, so cells that contain only a time of day have it. */
const FIRST_DAY = Date.UTC(1899, 11, 30)

/** Longer durations are dates. The library does not say which of the two a cell is. */
const MAX_DURATION = Date.UTC(1900, 2, 1) - FIRST_DAY
const HOUR = 60 * 60 * 1000

/** Maximum number of sheets, because each one becomes an asset. */
const MAX_SHEETS = 500

/**
 * Writes every sheet of an XLSX file that is not empty as a table. The first row that is not empty names the columns.
 * Needs `read-excel-file`.
 *
 * @throws TableError for a file that cannot be read, for more than 500 sheets, and if the library is missing
 */
export async function* writeSheets(workbook: NamedFile): AsyncGenerator<WrittenTable | null> {
  const sheets = await readSheets(workbook)
  for (const [i, { sheet: name, rows }] of sheets.entries()) {
    const written = await writeTable(sheetTable(workbook, rows))
    yield written && { ...written, sheet: { name, number: i + 1 } }
  }
}

/** Yields every sheet of a workbook as text: a line for each row, with cells separated by tabs. */
export async function* sheetTexts(workbook: NamedFile): AsyncGenerator<string> {
  const sheets = await readSheets(workbook)
  for (const [i, { sheet, rows }] of sheets.entries()) {
    const lines = rows.map((row) => row.map(cellText).join('\t').trimEnd())
    yield [`[Sheet ${i + 1} of ${sheets.length}: ${sheet}]`, ...lines].join('\n')
  }
}

async function readSheets({ name, path }: NamedFile): Promise<Sheet[]> {
  const { default: readXlsxFile } = await tableLibrary('read-excel-file/node', {
    name,
    purpose: 'Reading spreadsheets',
  })
  const sheets = await readXlsxFile(path, { trim: false }).catch((error: unknown) => {
    const reason = 'it is not a spreadsheet that byref can read, or it is damaged.'
    throw broken({ name }, null, reason, error)
  })
  if (sheets.length > MAX_SHEETS) {
    const reason = `it has ${sheets.length} sheets, and at most ${MAX_SHEETS} can be read: split it.`
    throw broken({ name }, null, reason)
  }
  return sheets.map(({ sheet, data }) => {
    const rows = (data as ExcelCell[][]).filter((row) => !row.every(isBlank))
    return { sheet, rows: rows.map((row) => row.map(jsonCell)) }
  })
}

function sheetTable(source: Pick<NamedFile, 'name'>, [header, ...rows]: Cell[][]): TableInput {
  const names = header?.slice(0, widthOf(header)).map((cell) => String(cell ?? '')) ?? []
  const columns = columnNames(source, names).map((name) => valueColumn(name))
  return {
    columns,
    async *batches() {
      if (!header) yield null
      for (let at = 0; at < rows.length; at += BATCH) {
        const batch = rows.slice(at, at + BATCH)
        const width = Math.max(...batch.map(widthOf))
        if (width > columns.length) widen(source, columns, { width, create: valueColumn })
        yield batch
      }
    },
  }
}

/** Returns the number of cells in a row up to the last one that is not empty. */
function widthOf(row: readonly Cell[]): number {
  return row.findLastIndex((cell) => cell !== null) + 1
}

/** Whether a cell is empty. A text with only spaces counts as empty, as in CSV. */
function isBlank(cell: ExcelCell): boolean {
  return cell === null || (typeof cell === 'string' && cell.trim() === '')
}

/** Returns a cell as JSON. Dates and times become ISO 8601, and durations hours: `27:30:00`. */
function jsonCell(cell: ExcelCell): Cell {
  if (isBlank(cell)) return null
  if (!(cell instanceof Date)) return cell
  // The library makes an invalid date of a number that is too large for one.
  if (Number.isNaN(cell.getTime())) return null
  const date = toSecond(cell)
  const [day = '', time = ''] = date
    .toISOString()
    .replace(/(\.000)?Z$/, '')
    .split('T')
  const duration = date.getTime() - FIRST_DAY
  if (duration >= 0 && duration < MAX_DURATION) {
    return `${Math.floor(duration / HOUR)}`.padStart(2, '0') + time.slice(2)
  }
  return time === '00:00:00' ? day : `${day}T${time}`
}

/**
 * Returns a whole second for a time that is just before it. Spreadsheets store times as fractions of a day, and the library
 * rounds them down: 10:00 would be 09:59:59.999.
 */
function toSecond(time: Date): Date {
  return time.getUTCMilliseconds() === 999 ? new Date(time.getTime() + 1) : time
}

/** Returns a cell as text on one line. */
function cellText(cell: Cell): string {
  return String(cell ?? '').replace(/\s+/g, ' ')
}
