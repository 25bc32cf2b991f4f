import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import type { TextEncodingName } from '../bodies/text-encoding.ts'
import { textEncodingOf } from '../bodies/text-encoding.ts'
import { type ColumnReader, type Storage, type TableColumn, textColumn } from './column.ts'
import { columnNames, delimiterOf } from './csv-table.ts'
import { loadDuckdb, named, quoted } from './duckdb.ts'
import { openParquet } from './parquet-file.ts'
import { spoolOf } from './spool.ts'
import { headOf, type TableSource } from './table-text.ts'
import { storedNames } from './write-parquet.ts'
import type { WrittenTable } from './write-table.ts'

/** Below it, what is saved by DuckDB is less than what it takes to start. */
const WORTH_BYTES = 4 * 1024 * 1024
/** Records by which the columns' types are guessed; a cell that does not fit ends the attempt. */
const GUESSED_BY = 500
const MEMORY = '192MB'
const GROUP_ROWS = 20_480
/** A number without plus, leading zeros and exponent, and a text of white space. */
const PLAIN = String.raw`'-?(0|[1-9][0-9]*)(\.[0-9]+)?'`
const BLANK = String.raw`'[\s\v\x{a0}\x{feff}]*'`

/** What came of an attempt. */
export interface DuckdbAttempt {
  /** Null where it is nothing for DuckDB, or has cells that only the slow way reads. */
  written: WrittenTable | null
  /** Null where it was not looked for. */
  encoding: TextEncodingName | null
}

/**
 * A large CSV of plain numbers, days, booleans and texts as Parquet, by DuckDB where it is installed: the same table as
 * {@link writeTable} makes, in a tenth of the time.
 */
export async function writeByDuckdb(
  source: Omit<TableSource, 'encoding'>,
  format: 'csv' | 'tsv',
  signal: AbortSignal | undefined,
): Promise<DuckdbAttempt> {
  const duckdb = source.size < WORTH_BYTES ? null : await loadDuckdb()
  if (!duckdb) return { written: null, encoding: null }
  const folder = await mkdtemp(join(tmpdir(), 'byref-'))
  const [csv, parquet] = [join(folder, 'table.csv'), join(folder, 'table.parquet')]
  let kept = false
  try {
    const encoding = await textEncodingOf(copied(await source.open(), csv))
    const plan = encoding === 'utf-8' ? await planOf(source, format) : null
    if (!plan) return { written: null, encoding }
    const statements = [false, true].map((asDoubles) =>
      copyStatement(plan, { csv, parquet, asDoubles }),
    )
    if (!(await runOneOf(duckdb, statements, signal))) return { written: null, encoding }
    await rm(csv)
    const written = await describe(plan, await spoolOf(parquet, folder))
    kept = true
    return { written, encoding }
  } finally {
    if (!kept) await rm(folder, { recursive: true, force: true })
  }
}

/** Runs the first of the statements that can be run; false where none can. */
async function runOneOf(
  { DuckDBInstance }: NonNullable<Awaited<ReturnType<typeof loadDuckdb>>>,
  statements: readonly string[],
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const settings = { threads: '2', memory_limit: MEMORY, max_temp_directory_size: '0KB' }
  const instance = await DuckDBInstance.create(':memory:', settings)
  const connection = await instance.connect()
  const stop = (): void => connection.interrupt()
  signal?.addEventListener('abort', stop, { once: true })
  try {
    for (const statement of statements) {
      signal?.throwIfAborted()
      const isDone = await connection.run(statement).then(
        () => true,
        () => false,
      )
      if (isDone) return true
    }
    signal?.throwIfAborted()
    return false
  } finally {
    signal?.removeEventListener('abort', stop)
    connection.closeSync()
    instance.closeSync()
  }
}

/** The chunks, while they are written to a file. */
async function* copied(
  stream: ReadableStream<Uint8Array>,
  path: string,
): AsyncGenerator<Uint8Array> {
  const file = await open(path, 'wx', 0o600)
  try {
    for await (const chunk of stream) {
      await file.write(chunk)
      yield chunk
    }
  } finally {
    await file.close()
  }
}

interface Plan {
  columns: readonly ColumnReader[]
  stored: readonly string[]
  delimiter: string
  lineEnd: string
}

/** How the file is read, by its beginning; null for what only the slow way reads. */
async function planOf(
  source: Omit<TableSource, 'encoding'>,
  format: 'csv' | 'tsv',
): Promise<Plan | null> {
  const plain: TableSource = { ...source, encoding: 'utf-8' }
  const head = await headOf(plain)
  const delimiter = delimiterOf(head, format)
  const end = head.lastIndexOf('\n', head.length - 2)
  let records: string[][]
  try {
    records = parse(head.slice(0, end + 1), { delimiter, bom: true, to: GUESSED_BY })
  } catch {
    return null
  }
  const [header = [], ...rows] = records
  if (header.length < 2 || rows.length === 0) return null
  const names = columnNames(plain, header)
  const columns = names.map(textColumn)
  for (const row of rows) for (const [i, column] of columns.entries()) column.see(row[i])
  const isPlain = columns.every((column) => {
    const { type } = column.column()
    return type !== 'empty' && (type === 'string' || column.storage() !== 'text')
  })
  const lineEnd = head.includes('\r\n') ? '\\r\\n' : '\\n'
  return isPlain ? { columns, stored: storedNames(names), delimiter, lineEnd } : null
}

/** @param to.asDoubles Whether whole numbers are taken for doubles, because later ones may have a fraction. */
function copyStatement(
  { columns, stored, delimiter, lineEnd }: Plan,
  to: { csv: string; parquet: string; asDoubles: boolean },
): string {
  const raw = columns.map((_, i) => `'c${i}': 'varchar'`).join(', ')
  const cells = columns.map((column, i) => {
    const storage = column.storage()
    const isWhole = storage === 'int32' || storage === 'int64'
    const cell = cellOf(`c${i}`, isWhole && to.asDoubles ? 'double' : storage)
    return `${cell} as ${named(stored[i] as string)}`
  })
  const options = `delim=${quoted(delimiter)}, quote='"', escape='"', new_line='${lineEnd}', header=true`
  const rows = `read_csv(${quoted(to.csv)}, columns={${raw}}, auto_detect=false, strict_mode=true, ${options})`
  const form = `format parquet, codec 'snappy', row_group_size ${GROUP_ROWS}`
  return `copy (select ${cells.join(', ')} from ${rows}) to ${quoted(to.parquet)} (${form})`
}

/** A cell as it is stored; one that is not written in the plainest way ends the statement. */
function cellOf(cell: string, storage: Storage): string {
  const checked = (fits: string, value: string): string =>
    `case when ${cell} is null or ${cell} = '' then null when ${fits} then ${value} else error('another way') end`
  const same = (type: string): string =>
    checked(`try_cast(${cell} as ${type})::varchar = ${cell}`, `try_cast(${cell} as ${type})`)
  switch (storage) {
    case 'int32':
      return same('integer')
    case 'int64':
      return checked(
        `try_cast(${cell} as bigint)::varchar = ${cell} and length(${cell}) <= 15`,
        `try_cast(${cell} as bigint)`,
      )
    case 'date':
      return same('date')
    case 'double':
      return checked(
        `regexp_full_match(${cell}, ${PLAIN}) and (length(${cell}) <= 15 or try_cast(${cell} as double)::varchar = ${cell})`,
        `try_cast(${cell} as double)`,
      )
    case 'boolean':
      return checked(`lower(${cell}) in ('true', 'false')`, `lower(${cell}) = 'true'`)
    default:
      return `case when regexp_full_match(${cell}, ${BLANK}) then null else ${cell} end`
  }
}

/** What DuckDB wrote; the empty cells are counted in the file's own statistics. */
async function describe({ columns }: Plan, body: WrittenTable['body']): Promise<WrittenTable> {
  const { metadata, rows } = await openParquet(body, { name: 'table' })
  const described = columns.map((reader, i): TableColumn => {
    const missing = metadata.row_groups.reduce(
      (sum, { columns }) => sum + Number(columns[i]?.meta_data?.statistics?.null_count ?? 0),
      0,
    )
    return { ...reader.column(), missing }
  })
  return { columns: described, rows, body }
}
