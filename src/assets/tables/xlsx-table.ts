import { pathToFileURL } from 'node:url'
import type { Row } from 'read-excel-file/node'
import { type ColumnReader, valueColumn } from './column.ts'
import { columnNames } from './csv-table.ts'
import type { TableInput } from './table.ts'
import { tableLibrary } from './table-library.ts'
import { broken } from './table-text.ts'

type Library = typeof import('read-excel-file/node')
/** The library's type has the class in place of its instances. */
type Cell = Exclude<Row[number], typeof Date> | Date | null

const BATCH = 1_000
/** A spreadsheet, as a file. */
interface Sheet {
  name: string
  path: string
}

/** The first sheet of an XLSX file; its first row that is not empty names the columns. Needs `read-excel-file`. */
export function readXlsxTable({ name, path }: Sheet): TableInput {
  let columns: ColumnReader[] | null = null

  function begin(header: readonly Cell[]): ColumnReader[] {
    const last = header.findLastIndex((cell) => cell !== null)
    const names = header.slice(0, last + 1).map((cell) => String(jsonCell(cell) ?? ''))
    return columnNames({ name }, names).map(valueColumn)
  }

  function widen(known: ColumnReader[], row: readonly Cell[]): void {
    const width = row.findLastIndex((cell) => cell !== null) + 1
    if (width <= known.length) return
    const names = known.map((reader) => reader.column().name)
    const all = columnNames({ name }, [...names, ...new Array(width - names.length).fill('')])
    known.push(...all.slice(names.length).map(valueColumn))
  }

  return {
    get columns() {
      return columns ?? []
    },
    async *batches() {
      let isFirst = true
      for await (const batch of sheetRows({ name, path })) {
        const rows = batch.filter((row) => row.some((cell) => cell !== null))
        const header = isFirst ? rows.shift() : undefined
        if (header) {
          columns ??= begin(header)
          isFirst = false
        }
        for (const row of rows) widen(columns ?? [], row)
        yield rows.map((row) => row.map(jsonCell))
      }
      if (isFirst) yield null
    },
  }
}

/** The rows of the first sheet, some at a time. */
async function* sheetRows({ name, path }: Sheet): AsyncGenerator<Cell[][]> {
  const library = tableLibrary('read-excel-file/node', { name, form: 'A spreadsheet' })
  try {
    const { readSheet } = (await import(pathToFileURL(library).href)) as Library
    const rows = (await readSheet(path)) as Cell[][]
    for (let at = 0; at < rows.length; at += BATCH) yield rows.slice(at, at + BATCH)
  } catch (error) {
    const reason = 'it is no spreadsheet that can be read, or it is damaged.'
    throw broken({ name }, null, reason, error)
  }
}

/** A cell as JSON has it: days and times as ISO 8601. */
function jsonCell(cell: Cell | undefined): string | number | boolean | null {
  if (cell === undefined || cell === '') return null
  if (!(cell instanceof Date)) return cell
  const [day = '', time = ''] = cell.toISOString().slice(0, -1).split('T')
  return time === '00:00:00.000' ? day : `${day}T${time.replace(/\.000$/, '')}`
}
