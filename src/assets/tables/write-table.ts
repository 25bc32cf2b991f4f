import type { ColumnReader } from './column.ts'
import { createSpool, type Spool, type Spooled } from './spool.ts'
import { TableError } from './table-error.ts'
import type { TaskResult } from './table-task.ts'
import type { TableInput } from './table-text.ts'
import { createParquetOutput, type ParquetOutput } from './write-parquet.ts'

/** A table as Parquet, with its facts. */
export interface WrittenTable extends TaskResult {
  /** The owner must dispose of it. */
  body: Spooled
}

/**
 * Maximum size of a row group, which is written and read at once: rows, cells and characters. It has at least 100 rows.
 */
const GROUP = { rows: 20_480, cells: 200_000, characters: 8 * 1024 * 1024, least: 100 }

/**
 * The metadata of Parquet grows with each column of each row group. From `many` of these, groups are ten times as
 * large. Above `most` the metadata could not be read at once.
 */
const CHUNKS = { many: 100_000, most: 600_000 }

/**
 * Writes a table as Parquet while the types of its columns are being determined. If a later cell does not fit the types
 * of the first rows, the rest is only examined, and the file is read once more; `onAgain` is called then. Returns null
 * if the file is not a table.
 */
export async function writeTable(
  input: TableInput,
  onAgain: () => void = () => {},
): Promise<WrittenTable | null> {
  const first = await pass(input, true)
  if (first === null) return null
  const { rows, body } = first
  if (!body) onAgain()
  const again = body ? null : await pass(input, false)
  return {
    columns: input.columns.map((reader) => reader.column()),
    rows,
    body: (body ?? again?.body) as Spool,
  }
}

/**
 * Reads the file once. Returns null if it is not a table. The body is null if it could not be written with the initial
 * types.
 */
async function pass(
  input: TableInput,
  isFirst: boolean,
): Promise<{ rows: number; body: Spool | null } | null> {
  const body = createSpool()
  let isWritten = false
  try {
    const groups = groupWriter(input, body, isFirst)
    let rows = 0
    for await (const batch of input.batches()) {
      if (batch === null) return null
      rows += batch.length
      await groups.add(batch)
    }
    if (input.columns.length === 0) return null
    isWritten = await groups.end()
    return { rows, body: isWritten ? body : null }
  } finally {
    if (!isWritten) await body.dispose()
  }
}

function groupWriter(input: TableInput, body: Spool, isFirst: boolean) {
  let output: ParquetOutput | null = null
  let kinds: string[] = []
  let storing: ((cell: unknown) => unknown)[] = []
  let fits = true
  let group: (readonly unknown[])[] = []
  let characters = 0
  let rows = 0
  let chunks = 0
  let known = 0

  /** Passes a row to the columns. A column that appears late was empty before. */
  function show(row: readonly unknown[]): void {
    const { columns } = input
    for (; known < columns.length; known++) {
      for (let i = 0; i < rows; i++) columns[known]?.see(null)
    }
    for (let i = 0; i < columns.length; i++) columns[i]?.see(row[i])
    rows++
  }

  function begin(): ParquetOutput {
    const columns = input.columns.map((reader) => ({
      ...reader.column(),
      storage: reader.storage(),
    }))
    kinds = input.columns.map(kindOf)
    storing = input.columns.map((reader) => reader.storing())
    return createParquetOutput(columns, body)
  }

  async function flush(): Promise<void> {
    const written = group
    group = []
    characters = 0
    if (output) fits &&= isStoredAs(input.columns, kinds)
    if (!fits) return
    output ??= begin()
    chunks += input.columns.length
    if (chunks > CHUNKS.most) throw tooWide(input.columns.length, rows)
    await output.write(written.length, (i) => {
      const store = storing[i] as (cell: unknown) => unknown
      return written.map((row) => store(row[i]))
    })
  }

  return {
    async add(batch: readonly (readonly unknown[])[]): Promise<void> {
      const times = chunks > CHUNKS.many ? 10 : 1
      const most = groupRows(input.columns.length, times)
      for (const row of batch) {
        if (isFirst) show(row)
        for (const cell of row) if (typeof cell === 'string') characters += cell.length
        group.push(row)
        if (group.length >= most || characters >= times * GROUP.characters) await flush()
      }
    },
    /** Returns whether everything was written. */
    async end(): Promise<boolean> {
      await flush()
      if (!fits) return false
      output ??= begin()
      await output.finish()
      return true
    },
  }
}

function groupRows(columns: number, times: number): number {
  const fitting = Math.floor((times * GROUP.cells) / Math.max(1, columns))
  return Math.min(GROUP.rows, Math.max(GROUP.least, fitting))
}

function tooWide(columns: number, rows: number): TableError {
  const reason = `${columns} columns are too many for a table of more than ${rows} rows: split it, or turn columns into rows`
  return new TableError({ name: 'the table', line: null, reason })
}

function isStoredAs(columns: readonly ColumnReader[], kinds: readonly string[]): boolean {
  return columns.length === kinds.length && columns.every((one, i) => kindOf(one) === kinds[i])
}

/**
 * Returns how the cells of a column are converted. Text depends on the type (dates become ISO 8601), and decimals on
 * their scale.
 */
function kindOf(reader: ColumnReader): string {
  const storage = reader.storage()
  const { type, scale } = reader.column()
  const detail = storage === 'text' ? type : storage === 'decimal' ? scale : ''
  return `${storage} ${reader.form()} ${detail}`
}
