import { ByrefError } from '../../core/errors.ts'
import { type ColumnReader, textColumn, valueColumn } from './column.ts'
import {
  type DuckdbConnection,
  loadDuckdb,
  named,
  queryFailed,
  quoted,
  withDuckdb,
} from './duckdb.ts'
import type { TableColumn } from './table-facts.ts'
import type { BoundTable, TableTask } from './table-task.ts'
import { type WrittenTable, writeTable } from './write-table.ts'

/** Memory of DuckDB's own; the process has more, for the result. */
const MEMORY = '256MB'
/** Of DuckDB's statements, what only reads. */
const SELECT = 1
const SECONDLESS = String.raw`'T(\d\d:\d\d)($|[Z+-])', 'T\1:00\2'`

/** Functions that make rows of nothing but their arguments. Others read files, settings, or a text as SQL. */
const ROW_FUNCTIONS: ReadonlySet<string> = new Set([
  'range',
  'generate_series',
  'unnest',
  'repeat',
  'repeat_row',
  'json_each',
  'json_tree',
])
/** Functions and views that tell the process's settings, paths among them. */
const SETTINGS: ReadonlySet<string> = new Set(['current_setting', 'duckdb_settings', 'pg_settings'])

/** Runs a query over the files of its folder, each a view by the name that the query has for it. */
export async function runQuery({
  sql,
  tables,
  rows,
}: Extract<TableTask, { type: 'query' }>): Promise<WrittenTable> {
  const scope = { memory: MEMORY, files: tables.map(({ file }) => file) }
  try {
    return await withDuckdb(await loadDuckdb(), scope, async (connection) => {
      for (const one of tables) await createView(connection, one)
      await checkStatement(connection, sql)
      return parquetOfResult(await connection.stream(sql), rows)
    })
  } catch (error) {
    throw queryFailed(error)
  }
}

/** Values that lie as text are of their types in the view. */
async function createView(
  connection: DuckdbConnection,
  { name, file, columns }: BoundTable,
): Promise<void> {
  const body = `read_parquet(${quoted(file)})`
  const described = await connection.runAndReadAll(`describe select * from ${body}`)
  const typed = described.getRowsJson().flatMap(([stored, lies], i) => {
    const type = lies === 'VARCHAR' ? sqlType(columns[i] as TableColumn) : null
    if (type === null) return []
    const column = named(String(stored))
    // Times without seconds are none in SQL.
    const text = type === 'timestamp' ? `regexp_replace(${column}, ${SECONDLESS})` : column
    return [`try_cast(${text} as ${type}) as ${column}`]
  })
  const replaced = typed.length > 0 ? ` replace (${typed.join(', ')})` : ''
  await connection.run(`create view ${named(name)} as select *${replaced} from ${body}`)
}

/** What SQL takes a column for; null for what it is already. */
function sqlType({ type, scale = 0 }: TableColumn): string | null {
  switch (type) {
    case 'date':
      return 'timestamp'
    case 'decimal':
      return `decimal(38, ${Math.min(scale, 38)})`
    case 'object':
    case 'array':
    case 'mixed':
      return 'json'
    default:
      return null
  }
}

async function checkStatement(connection: DuckdbConnection, sql: string): Promise<void> {
  const parsed = await connection.runAndReadAll(`select json_serialize_sql(${quoted(sql)})`)
  checkNames(JSON.parse(String(parsed.getRowsJson()[0]?.[0])))
  const statements = await connection.extractStatements(sql)
  if (statements.count !== 1)
    throw queryFailed(`It has ${statements.count} statements; write one SELECT.`)
  const prepared = await statements.prepare(0)
  const { statementType } = prepared
  prepared.destroySync()
  if (statementType !== SELECT)
    throw queryFailed('Only SELECT is allowed: tables are read, never changed.')
}

/** Refuses what reaches for more than tables, anywhere in a parsed statement. */
function checkNames(root: unknown): void {
  const left: unknown[] = [root]
  while (left.length > 0) {
    const node = left.pop()
    if (typeof node !== 'object' || node === null) continue
    const { type, function: called, function_name: name, table_name: table } = node as SyntaxNode
    for (const one of [name, table]) if (typeof one === 'string') checkName(one, SETTINGS, false)
    if (type === 'TABLE_FUNCTION') checkName(called?.function_name ?? '', ROW_FUNCTIONS, true)
    left.push(...Object.values(node))
  }
}

/** What is looked at of a node of the syntax tree. */
interface SyntaxNode {
  type?: unknown
  function?: { function_name?: string }
  function_name?: unknown
  table_name?: unknown
}

function checkName(name: string, names: ReadonlySet<string>, isAllowed: boolean): void {
  if (names.has(name.toLowerCase()) === isAllowed) return
  const allowed = [...ROW_FUNCTIONS].join(', ')
  throw queryFailed(
    `${name} cannot be used: a query reads the tables that it names, and rows of ${allowed}.`,
  )
}

type Result = import('@duckdb/node-api').DuckDBResult

/** SQL's types whose values come as text that says all of their digits. */
const LONG = /^(U?BIGINT|U?HUGEINT|DECIMAL|BIGNUM)/
/** Characters of a result. */
const MOST_CHARACTERS = 32 * 1024 * 1024

/**
 * The rows of a result as a table.
 *
 * @throws ByrefError `result_too_large`
 */
async function parquetOfResult(result: Result, most: number): Promise<WrittenTable> {
  const types = result.columnTypes().map(String)
  const names = result.deduplicatedColumnNames()
  const columns = names.map((name, i) => readerOf(name, types[i] ?? ''))
  const batches = await allRows(result, most, columns.length)
  const written = await writeTable({
    columns,
    async *batches() {
      yield* batches
    },
  })
  // A result has columns always.
  return written as WrittenTable
}

function readerOf(name: string, type: string): ColumnReader {
  return LONG.test(type) || type === 'DATE' || type.startsWith('TIMESTAMP')
    ? textColumn(name)
    : valueColumn(name)
}

async function allRows(result: Result, most: number, columns: number): Promise<unknown[][][]> {
  const batches: unknown[][][] = []
  let rows = 0
  let characters = 0
  for await (const batch of result.yieldRowsJson()) {
    rows += batch.length
    for (const row of batch) {
      for (let i = 0; i < columns; i++) characters += sizeOf(row[i])
    }
    if (rows > most || characters > MOST_CHARACTERS) throw tooLarge(rows > most ? most : null)
    batches.push(batch)
  }
  return batches
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  return typeof value === 'object' && value !== null ? JSON.stringify(value).length : 1
}

function tooLarge(rows: number | null): ByrefError {
  const what = rows === null ? '32 million characters' : `${rows.toLocaleString('en')} rows`
  return new ByrefError(
    'result_too_large',
    `The result has more than ${what}: aggregate, filter, or add a limit.`,
  )
}
