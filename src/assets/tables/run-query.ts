import { type DuckdbConnection, loadDuckdb, named, quoted, withDuckdb } from './duckdb.ts'
import { queryFailed } from './query-error.ts'
import { parquetOfResult } from './query-result.ts'
import type { TableColumn } from './table-column.ts'
import type { BoundTable, TableTask } from './table-task.ts'
import type { WrittenTable } from './write-table.ts'

/** Memory of DuckDB's own; the process has more, for the result. */
const MEMORY = '256MB'
/** Of DuckDB's statements, what only reads. */
const SELECT = 1
const SECONDLESS = String.raw`'T(\d\d:\d\d)($|[Z+-])', 'T\1:00\2'`

/** Functions that make rows of nothing but their arguments. Others read files, settings, or a text as SQL. */
const ROW_FUNCTIONS: ReadonlySet<string> = new Set([
  ...['range', 'generate_series', 'unnest', 'repeat', 'repeat_row', 'json_each', 'json_tree'],
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
