import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ByrefError, errorMessage } from '../../errors.ts'
import { isAssetRef } from '../../refs/asset-ref.ts'
import type { NamespaceOption } from '../asset-locator.ts'
import type { AssetReader } from '../asset-reader.ts'
import type { QueryLimits, TableQuery } from '../assets-contract.ts'
import {
  type DuckdbConnection,
  loadDuckdb,
  named,
  quoted,
  sqlMissing,
  withDuckdb,
} from './duckdb.ts'
import { parquetOfResult } from './query-result.ts'
import type { TableColumn } from './table-column.ts'
import type { TableRows } from './table-rows.ts'
import type { WrittenTable } from './write-table.ts'

/** What tables are read by. */
export type TableSources = Pick<AssetReader, 'info' | 'rows' | 'open'>

/** A result, and the tables that it was made of. */
export interface QueryResult {
  table: WrittenTable
  /** Ids. */
  sources: string[]
}

/** In which namespace, how much and how long. */
export interface QueryScope extends NamespaceOption {
  limits: QueryLimits
  signal?: AbortSignal
}

/** A table that the query names, as a file. */
interface BoundTable {
  name: string
  assetId: string
  path: string
  rows: TableRows
}

const MAX_SQL = 100_000
/** Memory that a query may take. */
const MEMORY = '512MB'
/** Of DuckDB's statements, what only reads. */
const SELECT = 1
const SECONDLESS = String.raw`'T(\d\d:\d\d)($|[Z+-])', 'T\1:00\2'`
const TOKEN = /'(?:[^']|'')*'|--[^\n]*|\/\*[\s\S]*?\*\/|\$(\w*)\$[\s\S]*?\$\1\$|"((?:[^"]|"")*)"/g

/**
 * Asks tables by SQL (DuckDB's). The query sees the tables that it names, each as a view, and nothing else.
 *
 * @throws ByrefError `invalid_arguments` for SQL that is wrong, no SELECT or that reaches for anything else; `asset_not_found`;
 * `result_too_large`, `tool_timeout`; `dependency_missing` without DuckDB
 */
export async function queryTables(
  assets: TableSources,
  { sql, tables = {} }: TableQuery,
  { limits, signal, ...where }: QueryScope,
): Promise<QueryResult> {
  const duckdb = await loadDuckdb()
  if (!duckdb) throw sqlMissing()
  if (sql.length > MAX_SQL) throw wrong(`The query is longer than ${MAX_SQL} characters.`)
  const timeout = AbortSignal.timeout(limits.timeoutMs)
  const either = signal ? AbortSignal.any([signal, timeout]) : timeout
  const folder = await mkdtemp(join(tmpdir(), 'byref-'))
  try {
    const bound = await bind(
      assets,
      { ...referencesIn(sql), ...tables },
      { folder, signal: either, ...where },
    )
    const files = bound.map(({ path }) => path)
    const table = await withDuckdb(
      duckdb,
      { memory: MEMORY, files, signal: either },
      async (connection) => {
        for (const one of bound) await createView(connection, one)
        await checkStatement(connection, sql)
        return parquetOfResult(await connection.stream(sql), { most: limits.rows, signal: either })
      },
    )
    return { table, sources: [...new Set(bound.map(({ assetId }) => assetId))] }
  } catch (error) {
    signal?.throwIfAborted()
    if (timeout.aborted) throw tooSlow(limits.timeoutMs)
    if (error instanceof ByrefError) throw error
    throw wrong(errorMessage(error).replaceAll(folder, ''))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** References between double quotes, by themselves; what is in comments and texts is none. */
function referencesIn(sql: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const [, , name] of sql.matchAll(TOKEN)) {
    const ref = name?.replaceAll('""', '"')
    if (ref !== undefined && /^\s*asset:/i.test(ref) && isAssetRef(ref)) found[ref] = ref
  }
  return found
}

async function bind(
  assets: TableSources,
  tables: Readonly<Record<string, string>>,
  { folder, signal, namespace }: NamespaceOption & { folder: string; signal: AbortSignal },
): Promise<BoundTable[]> {
  const bound: BoundTable[] = []
  const paths = new Map<string, string>()
  for (const [name, ref] of Object.entries(tables)) {
    const { ref: whole, assetId, table } = await assets.info(ref, { namespace })
    const rows = table && (await assets.rows(ref, { namespace }))
    if (!rows) throw wrong(`${ref} is no table: import its file first.`)
    const path = paths.get(whole) ?? join(folder, `${paths.size}.parquet`)
    if (!paths.has(whole)) await copyBody(assets, whole, { path, signal, namespace })
    paths.set(whole, path)
    bound.push({ name, assetId, path, rows })
  }
  return bound
}

async function copyBody(
  assets: TableSources,
  ref: string,
  { path, ...reading }: NamespaceOption & { path: string; signal: AbortSignal },
): Promise<void> {
  const { stream } = await assets.open(ref, reading)
  const file = await open(path, 'wx', 0o600)
  try {
    for await (const chunk of stream) await file.write(chunk)
  } finally {
    await file.close()
  }
}

/** A view by the name that the query has for it; values that lie as text are of their types in it. */
async function createView(
  connection: DuckdbConnection,
  { name, path, rows }: BoundTable,
): Promise<void> {
  const body = `read_parquet(${quoted(path)})`
  const described = await connection.runAndReadAll(`describe select * from ${body}`)
  const typed = described.getRowsJson().flatMap(([stored, lies], i) => {
    const type = lies === 'VARCHAR' ? sqlType(rows.columns[i] as TableColumn) : null
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
  const statements = await connection.extractStatements(sql)
  if (statements.count !== 1)
    throw wrong(`It has ${statements.count} statements; write one SELECT.`)
  const prepared = await statements.prepare(0)
  const { statementType } = prepared
  prepared.destroySync()
  if (statementType !== SELECT)
    throw wrong('Only SELECT is allowed: tables are read, never changed.')
}

function wrong(reason: string): ByrefError {
  const hint = 'Tables are named by their references in double quotes: from "asset://id".'
  return new ByrefError('invalid_arguments', `The query failed. ${reason} ${hint}`)
}

function tooSlow(ms: number): ByrefError {
  return new ByrefError(
    'tool_timeout',
    `The query took longer than ${ms / 1000} s and was stopped: filter or aggregate more.`,
  )
}
