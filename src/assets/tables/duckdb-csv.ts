import { openAsBlob } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import type { ColumnReader } from './column.ts'
import { columnNames, type Dialect, dialectOf, localColumns } from './csv-table.ts'
import { type DuckdbConnection, loadDuckdb, named, quoted, withDuckdb } from './duckdb.ts'
import { openParquet } from './parquet-file.ts'
import { sourceOf } from './spool.ts'
import type { TableColumn } from './table-facts.ts'
import { RESULT, type TableTask, type TaskResult } from './table-task.ts'
import { headOf, type TableSource } from './table-text.ts'
import { storedNames } from './write-parquet.ts'

/** Number of records from which the types of the columns are guessed. */
const SAMPLED_RECORDS = 500
const MEMORY = '192MB'

/** Bytes that each thread reads ahead. */
const BUFFER = 4_000_000
const GROUP_ROWS = 20_480

/** Maximum number of attempts: a file is read again if a later cell does not have its column's type. */
const ATTEMPTS = 6
const PROGRESS_MS = 250

type CsvTask = Extract<TableTask, { type: 'csv' | 'tsv' }>

/**
 * Converts a large CSV of plain numbers, dates, times, booleans and texts to Parquet with DuckDB. Makes the same table as
 * `writeTable` in a tenth of the time. Null if the file has cells that only `writeTable` reads.
 */
export async function writeByDuckdb(
  task: CsvTask,
  onProgress: (part: number) => void,
): Promise<TaskResult | null> {
  const plan = await planOf(task)
  if (!plan) return null
  const paths = { csv: task.path, parquet: join(task.folder, RESULT) }
  const scope = { memory: MEMORY, files: null }
  const isDone = await withDuckdb(await loadDuckdb(), scope, (connection) =>
    withProgress(connection, onProgress, () => runPlan(connection, plan, paths)),
  )
  return isDone ? describe(plan, paths.parquet) : null
}

/** Runs a statement and reports its progress. */
async function withProgress<T>(
  connection: DuckdbConnection,
  report: (part: number) => void,
  run: () => Promise<T>,
): Promise<T> {
  await connection.run('set enable_progress_bar=true')
  await connection.run('set enable_progress_bar_print=false')
  const timer = setInterval(() => {
    const { percentage } = connection.progress
    if (percentage > 0) report(percentage / 100)
  }, PROGRESS_MS)
  try {
    const result = await run()
    report(1)
    return result
  } finally {
    clearInterval(timer)
  }
}

interface Plan extends Dialect {
  columns: readonly ColumnReader[]
  names: readonly string[]
  /** Whether rows with too few cells are read. This is slower, and DuckDB rejects some line breaks in cells then. */
  isPadded: boolean
}

/** Returns how to read the file, by its beginning; null if only `writeTable` can read it. */
async function planOf({ name, size, path, type }: CsvTask): Promise<Plan | null> {
  const open = async () => (await openAsBlob(path)).stream()
  const plain: TableSource = { name, size, open, encoding: 'utf-8' }
  const head = await headOf(plain)
  // The header has another encoding, which DuckDB does not detect.
  if (head.includes('\ufffd')) return null
  const dialect = dialectOf(head, type)
  const end = head.lastIndexOf('\n', head.length - 2)
  let records: string[][]
  try {
    records = parse(head.slice(0, end + 1), {
      delimiter: dialect.delimiter,
      from_line: dialect.headerLine,
      bom: true,
      to: SAMPLED_RECORDS,
    })
  } catch {
    return null
  }
  const [header = [], ...rows] = records
  if (header.length < 2 || rows.length === 0) return null
  const names = columnNames(plain, header)
  const columns = names.map(localColumns(dialect))
  for (const row of rows) for (const [i, column] of columns.entries()) column.see(row[i])
  return { ...dialect, columns, names: storedNames(names), isPadded: false }
}

/** Writes the Parquet file; false if DuckDB cannot. */
async function runPlan(
  connection: DuckdbConnection,
  plan: Plan,
  { csv, parquet }: { csv: string; parquet: string },
): Promise<boolean> {
  const copy = (forms: readonly SqlForm[]): Promise<unknown> => {
    const cells = forms.map((form, i) => `${cellSql(form, i)} as ${named(plan.names[i] as string)}`)
    const select = `select ${cells.join(', ')} from ${rowsOf(plan, csv)}`
    const form = `format parquet, codec 'snappy', row_group_size ${GROUP_ROWS}, write_bloom_filter false`
    return connection.run(`copy (${select}) to ${quoted(parquet)} (${form})`)
  }

  if (!(await lookFurther(connection, plan, csv))) return false
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const forms = plan.columns.map(sqlForm)
    if (forms.includes(null)) return false
    try {
      await copy(forms as SqlForm[])
      return true
    } catch (error) {
      const failed = failedCell(error)
      const reader = plan.columns[failed?.place ?? -1]
      if (!failed && !plan.isPadded) {
        plan.isPadded = true
        continue
      }
      if (!failed || !reader) return false
      reader.see(failed.cell)
      if (sqlForm(reader) === forms[failed.place]) return false
    }
  }
  return false
}

/** Shows columns that begin empty their smallest and largest text; false if DuckDB cannot read the file. */
async function lookFurther(
  connection: DuckdbConnection,
  plan: Plan,
  csv: string,
): Promise<boolean> {
  const places = plan.columns.flatMap((reader, i) => (reader.column().type === 'empty' ? [i] : []))
  if (places.length === 0) return true
  const ends = ['min', 'max'].flatMap((end) => places.map((place) => `${end}(${rawColumn(place)})`))
  const sql = `select ${ends.join(', ')} from ${rowsOf(plan, csv)}`
  const read = await connection.runAndReadAll(sql).catch(() => null)
  const [found = []] = read?.getRowsJson() ?? []
  for (const [i, cell] of found.entries()) {
    plan.columns[places[i % places.length] as number]?.see(cell)
  }
  return read !== null
}

/** Returns SQL for the rows of the file, with unconverted cells. */
function rowsOf({ columns, delimiter, headerLine, isPadded }: Plan, csv: string): string {
  const raw = columns.map((_, i) => `'c${i}': 'varchar'`).join(', ')
  const form = `delim=${quoted(delimiter)}, quote='"', escape='"', header=true, skip=${headerLine - 1}`
  // Without `new_line`: with it, DuckDB 1.5 reads no rows if the lines end differently.
  const reading = `auto_detect=false, strict_mode=true, null_padding=${isPadded}, buffer_size=${BUFFER}`
  return `read_csv(${quoted(csv)}, columns={${raw}}, ${reading}, ${form})`
}

/** Describes what DuckDB wrote. The file's statistics count the empty cells. */
async function describe({ columns }: Plan, parquet: string): Promise<TaskResult> {
  const handle = await open(parquet, 'r')
  try {
    const { metadata, rows } = await openParquet(await sourceOf(handle), { name: 'table' })
    const described = columns.map((reader, i): TableColumn => {
      const missing = metadata.row_groups.reduce(
        (sum, { columns }) => sum + Number(columns[i]?.meta_data?.statistics?.null_count ?? 0),
        0,
      )
      return { ...reader.column(), missing }
    })
    return { columns: described, rows }
  } finally {
    await handle.close()
  }
}

/** A number without plus, leading zeros and exponent. */
const PLAIN = String.raw`'-?(0|[1-9][0-9]*)(\.[0-9]+)?'`

/** The characters that JavaScript's `trim` removes. */
const BLANK = String.raw`'[\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]*'`
const TIME = String.raw`'[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,9})?)?Z?'`
const MARK = 'byref cell '
const FAILED_CELL = new RegExp(`${MARK}(\\d+) ([^]*)`)

/** Characters of a cell that an error quotes. */
const QUOTED = 200

/** How text cells of a CSV are stored. */
type SqlForm =
  | 'int32'
  | 'safe'
  | 'int64'
  | 'double'
  | 'boolean'
  | 'date'
  | 'local'
  | 'utc'
  | 'time'
  | 'text'
  | 'none'

/** Returns the form of a column by the cells seen so far; null if DuckDB is not used for it. */
function sqlForm(reader: ColumnReader): SqlForm | null {
  const { type, warning } = reader.column()
  const storage = reader.storage()
  // What looks like a local number or date is decided by all of its cells.
  if (reader.form() !== 'plain' || warning) return null
  if (type === 'empty') return 'none'
  if (type === 'string') return 'text'
  if (type === 'date' && storage === 'text') return 'time'
  if (type === 'number' && storage === 'int64') return 'safe'
  return storage === 'text' || storage === 'json' || storage === 'decimal' ? null : storage
}

/**
 * Returns the cells of a column in SQL. A cell that is not in the plainest form raises an error that {@link failedCell}
 * reads.
 */
function cellSql(form: SqlForm, place: number): string {
  const cell = rawColumn(place)
  const refused = `error('${MARK}${place} ' || left(${cell}, ${QUOTED + 1}))`
  const checked = (cases: string): string =>
    `case ${cases} when ${cell} is null then null else ${refused} end`
  const same = (type: string, fits = ''): string => {
    const value = `try_cast(${cell} as ${type})`
    return checked(`when ${value}::varchar = ${cell}${fits} then ${value}`)
  }
  switch (form) {
    case 'int32':
      return same('integer')
    case 'safe':
      return same('bigint', ` and strlen(${cell}) <= 15`)
    case 'int64':
      return same('bigint')
    case 'date':
      return same('date')
    case 'local':
    case 'utc': {
      // Both have the same microseconds, and `utc` ends with a Z.
      const time = `try_cast(${cell} as ${form === 'utc' ? 'timestamptz' : 'timestamp'})`
      const text = `make_timestamp(epoch_us(${time}))::varchar${form === 'utc' ? " || 'Z'" : ''}`
      return checked(`when ${text} = replace(${cell}, 'T', ' ') then ${time}`)
    }
    case 'double': {
      const isExact = `(strlen(${cell}) <= 15 or try_cast(${cell} as double)::varchar = ${cell})`
      return checked(
        `when regexp_full_match(${cell}, ${PLAIN}) and ${isExact} then try_cast(${cell} as double)`,
      )
    }
    case 'boolean':
      return checked(
        `when ${cell} = 'true' then true when ${cell} = 'false' then false when lower(${cell}) in ('true', 'false') then lower(${cell}) = 'true'`,
      )
    case 'time':
      return checked(
        `when regexp_full_match(${cell}, ${TIME}) and try_cast(${cell}[:10] as date) is not null then replace(${cell}, ' ', 'T') when try_cast(${cell} as date)::varchar = ${cell} then ${cell}`,
      )
    case 'none':
      return checked(`when regexp_full_match(${cell}, ${BLANK}) then null`)
    default:
      // A fast test: most texts begin with a letter or a digit, so they are not blank.
      return `case when ${cell} >= '!' and ${cell} < chr(128) then ${cell} when regexp_full_match(${cell}, ${BLANK}) then null else ${cell} end`
  }
}

/** Returns the cell that a statement failed on; null for any other error. */
function failedCell(error: unknown): { place: number; cell: string } | null {
  const [, place, cell = ''] = FAILED_CELL.exec(error instanceof Error ? error.message : '') ?? []
  return place === undefined || cell.length > QUOTED ? null : { place: Number(place), cell }
}

/** Returns the name of an unconverted column. */
function rawColumn(place: number): string {
  return named(`c${place}`)
}
