import { isAssetRef } from '../../core/refs/asset-ref.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import type { NamespaceOption } from '../asset-locator.ts'
import type { AssetReader } from '../asset-reader.ts'
import type { QueryLimits, TableQuery } from '../assets-contract.ts'
import { queryFailed, queryTooLarge, queryTooSlow, sqlMissing } from './duckdb.ts'
import { hasDuckdb } from './has-duckdb.ts'
import { writeBody } from './spool.ts'
import { type TableImports, tableOf } from './table-of.ts'
import { OutOfMemoryError, runTableTask } from './table-process.ts'
import type { BoundTable } from './table-task.ts'
import type { WrittenTable } from './write-table.ts'

const { join } = nodeBuiltin('node:path')

/** The readers of tables. */
export interface TableSources extends TableImports, Pick<AssetReader, 'rows' | 'open'> {}

/** A result, and the tables that it came from. */
export interface QueryResult {
  table: WrittenTable
  /** Ids. */
  sources: string[]
}

/** The namespace of a query, and its limits. */
export interface QueryScope extends NamespaceOption {
  limits: QueryLimits
  signal?: AbortSignal
}

const MAX_SQL = 100_000
const TOKEN = /'(?:[^']|'')*'|--[^\n]*|\/\*[\s\S]*?\*\/|\$(\w*)\$[\s\S]*?\$\1\$|"((?:[^"]|"")*)"/g

/**
 * Queries tables with DuckDB's SQL in a separate process. The query sees each table that it names as a view, and
 * nothing else.
 *
 * @throws ByrefError `invalid_arguments` for SQL that is wrong, not a SELECT, or reads anything else;
 * `asset_not_found`; `result_too_large`, `tool_timeout`; `dependency_missing` without DuckDB
 */
export async function queryTables(
  assets: TableSources,
  { sql, tables: named = {} }: TableQuery,
  { limits: { rows, timeoutMs }, signal, ...where }: QueryScope,
): Promise<QueryResult> {
  if (!hasDuckdb()) throw sqlMissing()
  if (sql.length > MAX_SQL) throw queryFailed(`It is longer than ${MAX_SQL} characters.`)
  const sources = new Set<string>()
  try {
    const [table] = await runTableTask(
      async (folder, signal) => {
        const refs = { ...referencesIn(sql), ...named }
        const tables = await bind(assets, refs, { folder, signal, sources, ...where })
        return { type: 'query', folder, sql, tables, rows }
      },
      { signal, timeoutMs },
    )
    // A query always has a result.
    return { table: table as WrittenTable, sources: [...sources] }
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof OutOfMemoryError) throw queryTooLarge()
    throw error instanceof DOMException && error.name === 'TimeoutError'
      ? queryTooSlow(timeoutMs)
      : error
  }
}

/** Finds references in double quotes. Comments and string literals are ignored. */
function referencesIn(sql: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const [, , name] of sql.matchAll(TOKEN)) {
    const ref = name?.replaceAll('""', '"')
    if (ref !== undefined && /^\s*asset:/i.test(ref) && isAssetRef(ref)) found[ref] = ref
  }
  return found
}

interface Binding extends NamespaceOption {
  folder: string
  signal: AbortSignal | undefined
  /** Receives the ids of the tables. */
  sources: Set<string>
}

/** Writes the tables of a query into its folder. */
async function bind(
  assets: TableSources,
  tables: Readonly<Record<string, string>>,
  { folder, signal, sources, namespace }: Binding,
): Promise<BoundTable[]> {
  const bound: BoundTable[] = []
  const files = new Map<string, string>()
  for (const [name, ref] of Object.entries(tables)) {
    const table = await queried(assets, ref, { namespace, signal })
    const { ref: whole, assetId } = await assets.info(table, { namespace })
    const rows = await assets.rows(table, { namespace })
    const file = files.get(whole) ?? `${files.size}.parquet`
    if (!files.has(whole)) {
      const { stream } = await assets.open(whole, { signal, namespace })
      await writeBody(stream, join(folder, file))
    }
    files.set(whole, file)
    sources.add(assetId)
    bound.push({ name, file, columns: rows.columns })
  }
  return bound
}

async function queried(
  assets: TableSources,
  ref: string,
  options: Pick<Binding, 'namespace' | 'signal'>,
): Promise<string> {
  const found = await tableOf(assets, ref, options)
  if (found.table !== null) return found.table
  throw queryFailed(`${ref} is ${found.problem}.`)
}
