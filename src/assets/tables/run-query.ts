import { ByrefError } from '../../core/errors.ts'
import { isAssetRef } from '../../core/refs/asset-ref.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import { type ColumnReader, type EmptyColumn, textColumn, valueColumn } from './column.ts'
import {
  type Duckdb,
  type DuckdbConnection,
  loadDuckdb,
  named,
  queryFailed,
  quoted,
  withDuckdb,
} from './duckdb.ts'
import { isoDate } from './iso-date.ts'
import { parseJson } from './long-number.ts'
import { textOrBase64 } from './parquet-values.ts'
import { createSpool, type Spool } from './spool.ts'
import type { TableColumn } from './table-facts.ts'
import type { BoundTable, TableTask } from './table-task.ts'
import { uniqueNames } from './unique-names.ts'
import { type WrittenTable, writeTable } from './write-table.ts'

const { deserialize, serialize } = nodeBuiltin('node:v8')

/** The memory limit of DuckDB. The process has more, for the result. */
const MEMORY = '256MB'

/** DuckDB's type of statements that only read. */
const SELECT = 1
const ADD_SECONDS = String.raw`'T(\d\d:\d\d)($|[Z+-])', 'T\1:00\2'`

/** Functions that make rows only from their arguments. Others read files, settings, or SQL in a text. */
const ROW_FUNCTIONS: ReadonlySet<string> = new Set([
  'range',
  'generate_series',
  'unnest',
  'repeat',
  'repeat_row',
  'json_each',
  'json_tree',
])

/** Functions and views that reveal settings of the process, such as paths. */
const SETTINGS: ReadonlySet<string> = new Set(['current_setting', 'duckdb_settings', 'pg_settings'])

type QueryTask = Extract<TableTask, { type: 'query' }>

/** Runs a query on the files in its folder. Each is a view with the name that the query uses. */
export async function runQuery({ sql, tables, rows }: QueryTask): Promise<WrittenTable> {
  const scope = { memory: MEMORY, files: tables.map(({ file }) => file) }
  try {
    const duckdb = await loadDuckdb()
    return await withDuckdb(duckdb, scope, async (connection) => {
      for (const one of tables) await createView(connection, one)
      await checkStatement(connection, sql)
      return await parquetOfResult(duckdb, await connection.stream(sql), rows)
    })
  } catch (error) {
    const given = tables.map(({ name }) => name).filter((name) => !isAssetRef(name))
    throw queryFailed(error, given)
  }
}

/** Creates the view of a table. Columns stored as text get their own types. */
async function createView(
  connection: DuckdbConnection,
  { name, file, columns }: BoundTable,
): Promise<void> {
  const body = `read_parquet(${quoted(file)})`
  const described = await connection.runAndReadAll(`describe select * from ${body}`)
  const typed = described.getRowsJson().flatMap(([stored, storedType], i) => {
    const type = storedType === 'VARCHAR' ? sqlType(columns[i] as TableColumn) : null
    if (type === null) return []
    const column = named(String(stored))
    const cast = type === 'timestamp' ? timeSql(column) : `try_cast(${column} as ${type})`
    // NULL fits to values of any type.
    const value = type === 'null' ? type : cast
    return [`${value} as ${column}`]
  })
  const replaced = typed.length > 0 ? ` replace (${typed.join(', ')})` : ''
  await connection.run(`create view ${named(name)} as select *${replaced} from ${body}`)
}

/** Returns SQL for a column of times in ISO 8601 as timestamps: in UTC if a time has an offset, otherwise as written. */
function timeSql(column: string): string {
  // SQL does not accept times without seconds.
  const text = `regexp_replace(${column}, ${ADD_SECONDS})`
  const inUtc = `make_timestamp(epoch_us(try_cast(${text} as timestamptz)))`
  const hasOffset = `strlen(${column}) > 16 and ${column}[-6] in ('+', '-')`
  return `case when ${hasOffset} then ${inUtc} else try_cast(${text} as timestamp) end`
}

/** Returns the SQL type that a text column is cast to. Null if it is a column of text. */
function sqlType({ type, scale = 0 }: TableColumn): string | null {
  switch (type) {
    case 'empty':
      return 'null'
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
  const tree = JSON.parse(String(parsed.getRowsJson()[0]?.[0])) as SyntaxTree
  // The library fails without a reason if there is no statement.
  if (tree.statements?.length === 0) throw queryFailed('It has no statement; write one SELECT.')
  checkNames(tree)
  const statements = await connection.extractStatements(sql)
  if (statements.count !== 1) {
    // DuckDB makes two statements of a PIVOT that finds its values itself.
    const reason = /\bpivot\b/i.test(sql)
      ? "PIVOT needs its values: pivot … on column in ('a', 'b')."
      : `It has ${statements.count} statements; write one SELECT.`
    throw queryFailed(reason)
  }
  // DuckDB calls a PRAGMA a SELECT, but it makes no syntax tree of one, so its names are not checked.
  if (tree.error_type === 'not implemented') throw onlySelect()
  const prepared = await statements.prepare(0)
  const { statementType } = prepared
  prepared.destroySync()
  if (statementType !== SELECT) throw onlySelect()
}

/** What DuckDB's `json_serialize_sql` returns. */
interface SyntaxTree {
  statements?: unknown[]
  error_type?: string
}

function onlySelect(): ByrefError {
  return queryFailed('Only SELECT is allowed: tables are read, never changed.')
}

/** Rejects references to anything but tables, anywhere in a parsed statement. */
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

/** The examined fields of a node in the syntax tree. */
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
type Json = import('@duckdb/node-api').Json
type Converter = Duckdb['JsonDuckDBValueConverter']

/** SQL types whose values are text: numbers with all digits, and times, which become ISO 8601. Lists end with `[]`. */
const TEXT = /^(U?BIGINT|U?HUGEINT|DECIMAL|BIGNUM|DATE|TIMESTAMP)[^[]*$/

/** What columns of these SQL types are without values. INTEGER is also the type of NULL. */
const EMPTY: readonly (readonly [RegExp, EmptyColumn])[] = [
  [/^(U?BIGINT|U?HUGEINT)$/, { type: 'number', storage: 'int64' }],
  [/^(FLOAT|DOUBLE|DECIMAL\(.*\))$/, { type: 'number', storage: 'double' }],
  [/^BOOLEAN$/, { type: 'boolean', storage: 'boolean' }],
  [/^DATE$/, { type: 'date', storage: 'date' }],
  [/^TIMESTAMP(_S|_MS|_NS)?$/, { type: 'date', storage: 'local' }],
  [/^TIMESTAMP WITH TIME ZONE$/, { type: 'date', storage: 'utc' }],
]

/** Up to this number of rows, a result has at most `few` characters; one of more rows has at most `many`. */
const MAX_CHARACTERS = { rows: 100_000, few: 32 * 1024 * 1024, many: 1024 * 1024 * 1024 }

/**
 * Writes the rows of a result as a table.
 *
 * @throws ByrefError `result_too_large`
 */
async function parquetOfResult(
  duckdb: Duckdb,
  result: Result,
  most: number,
): Promise<WrittenTable> {
  const types = result.columnTypes().map(String)
  const names = uniqueNames(result.columnNames())
  const columns = names.map((name, i) => readerOf(name, types[i] ?? ''))
  const { few, many } = MAX_CHARACTERS
  const characters = most > MAX_CHARACTERS.rows ? many : few
  const spool = createSpool()
  const batches = repeatable(rowsOf(result, duckdb), spool, { rows: most, characters })
  try {
    // A result always has columns.
    return (await writeTable({ columns, batches })) as WrittenTable
  } finally {
    await spool.dispose()
  }
}

function readerOf(name: string, type: string): ColumnReader {
  const empty = EMPTY.find(([types]) => types.test(type))?.[1]
  return TEXT.test(type) ? textColumn(name, { empty }) : valueColumn(name, empty)
}

/** Yields the rows of a result. JSON in a cell becomes its value. */
async function* rowsOf(result: Result, duckdb: Duckdb): AsyncGenerator<Json[][]> {
  const inJson = result.columnTypes().flatMap(({ alias }, i) => (alias === JSON_TYPE ? i : []))
  for await (const batch of result.yieldConvertedRows(cellConverter(duckdb))) {
    for (const row of batch) for (const i of inJson) row[i] = jsonIn(row[i])
    yield batch
  }
}

/** The name of DuckDB's type. */
const JSON_TYPE = 'JSON'

/** Returns the value of a JSON text, or null. */
function jsonIn(text: unknown): Json {
  return parseJson(String(text ?? null), (_, digits) => digits) as Json
}

/**
 * Creates a function that converts cells to JSON. NaN and the infinities stay numbers, maps become objects, and bytes
 * become text as in a Parquet file. Inside lists and objects, times are ISO 8601, and whole numbers are numbers, or text
 * beyond 2^53.
 */
function cellConverter(duckdb: Duckdb): Converter {
  const { DuckDBBlobValue, DuckDBMapType, DuckDBTimestampTZValue } = duckdb
  const { JsonDuckDBValueConverter: toJson } = duckdb
  const cell: Converter = (value, type) => {
    if (typeof value === 'number') return value
    if (value instanceof DuckDBBlobValue) return textOrBase64(value.bytes)
    const json = toJson(value, type, inside)
    if (value instanceof DuckDBTimestampTZValue) return String(json).replace(/\+00$/, 'Z')
    if (!(type instanceof DuckDBMapType) || json === null) return json
    const entries = json as { key: Json; value: Json }[]
    return Object.fromEntries(entries.map(({ key, value }) => [String(key), value]))
  }
  const inside: Converter = (value, type) => {
    if (type.alias === JSON_TYPE) return jsonIn(value)
    const json = cell(value, type, inside)
    if (typeof json !== 'string') return json
    if (String(type).startsWith('TIMESTAMP')) return isoDate(json) ?? json
    return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : json
  }
  return cell
}

/** Returns how to read the rows of a result, which can be read twice: the first time, they are kept in the spool. */
function repeatable(
  result: AsyncIterable<Json[][]>,
  spool: Spool,
  most: { rows: number; characters: number },
): () => AsyncGenerator<unknown[][]> {
  /** Where the batches in the spool end. */
  const ends: number[] = []
  let isRead = false

  async function* first() {
    let rows = 0
    let characters = 0
    for await (const batch of result) {
      rows += batch.length
      for (const row of batch) for (const cell of row) characters += sizeOf(cell)
      if (rows > most.rows) throw tooLarge(`${most.rows.toLocaleString('en')} rows`)
      if (characters > most.characters) {
        throw tooLarge(`${most.characters / 1024 / 1024} million characters`)
      }
      await spool.append(serialize(batch))
      ends.push(spool.size)
      yield batch
    }
    isRead = true
  }

  async function* again() {
    let start = 0
    for (const end of ends) {
      yield deserialize(await spool.read(start, end))
      start = end
    }
  }

  return () => (isRead ? again() : first())
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  return typeof value === 'object' && value !== null ? JSON.stringify(value).length : 1
}

function tooLarge(what: string): ByrefError {
  return new ByrefError(
    'result_too_large',
    `The result has more than ${what}: aggregate, filter, or add a limit.`,
  )
}
