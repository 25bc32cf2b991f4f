import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Row } from 'read-excel-file/node'
import { type ColumnReader, valueColumn } from './column.ts'
import { columnNames } from './csv-table.ts'
import type { TableInput } from './table.ts'
import { tableLibrary } from './table-library.ts'
import { broken } from './table-text.ts'

/** The library's type has the class in place of its instances. */
type Cell = Exclude<Row[number], typeof Date> | Date | null

const BATCH = 1_000
/** Memory that a spreadsheet may take while it is read. */
const MEMORY_MB = 1_024

// A thread of its own: unzipping and parsing give nobody else a turn.
const SOURCE = `
const { parentPort, workerData } = require('node:worker_threads')
const { library, path, batch } = workerData
require(library).readSheet(path).then((rows) => {
  let at = 0
  const send = () => parentPort.postMessage(rows.slice(at, (at += batch)))
  parentPort.on('message', send)
  send()
})
`

/** The first sheet of an XLSX file; its first row that is not empty names the columns. Needs `read-excel-file`. */
export function readXlsxTable({ name, path }: { name: string; path: string }): TableInput {
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

/** The rows of the first sheet, some at a time, as a thread reads them. */
async function* sheetRows({
  name,
  path,
}: {
  name: string
  path: string
}): AsyncGenerator<Cell[][]> {
  const library = tableLibrary('read-excel-file/node', { name, form: 'A spreadsheet' })
  const worker = new Worker(SOURCE, {
    eval: true,
    workerData: { library, path, batch: BATCH },
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  })
  try {
    for (;;) {
      const [rows] = (await once(worker, 'message')) as [Cell[][]]
      if (rows.length > 0) yield rows
      if (rows.length < BATCH) return
      worker.postMessage(null)
    }
  } catch (error) {
    const isLarge = (error as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY'
    const reason = isLarge
      ? 'it is too large for a spreadsheet: save it as CSV.'
      : 'it is no spreadsheet that can be read, or it is damaged.'
    throw broken({ name }, null, reason, error)
  } finally {
    await worker.terminate()
  }
}

/** A cell as JSON has it: days and times as ISO 8601. */
function jsonCell(cell: Cell | undefined): string | number | boolean | null {
  if (cell === undefined || cell === '') return null
  if (!(cell instanceof Date)) return cell
  const [day = '', time = ''] = cell.toISOString().slice(0, -1).split('T')
  return time === '00:00:00.000' ? day : `${day}T${time.replace(/\.000$/, '')}`
}
