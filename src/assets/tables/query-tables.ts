import { join } from 'node:path'
import { isAssetRef } from '../../refs/asset-ref.ts'
import type { NamespaceOption } from '../asset-locator.ts'
import type { AssetReader } from '../asset-reader.ts'
import type { QueryLimits, TableQuery } from '../assets-contract.ts'
import { hasDuckdb } from './has-duckdb.ts'
import { queryFailed, queryTooLarge, queryTooSlow, sqlMissing } from './query-error.ts'
import { writeBody } from './spool.ts'
import { OutOfMemoryError, runTableTask } from './table-process.ts'
import type { BoundTable } from './table-task.ts'
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

const MAX_SQL = 100_000
const TOKEN = /'(?:[^']|'')*'|--[^\n]*|\/\*[\s\S]*?\*\/|\$(\w*)\$[\s\S]*?\$\1\$|"((?:[^"]|"")*)"/g

/**
 * Asks tables by SQL (DuckDB's), in a process of its own. The query sees the tables that it names, each as a view, and nothing
 * else.
 *
 * @throws ByrefError `invalid_arguments` for SQL that is wrong, no SELECT or that reaches for anything else; `asset_not_found`;
 * `result_too_large`, `tool_timeout`; `dependency_missing` without DuckDB
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
    const table = await runTableTask(
      async (folder, signal) => {
        const refs = { ...referencesIn(sql), ...named }
        const tables = await bind(assets, refs, { folder, signal, sources, ...where })
        return { type: 'query', folder, sql, tables, rows }
      },
      { signal, timeoutMs },
    )
    // A query has a result always.
    return { table: table as WrittenTable, sources: [...sources] }
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof OutOfMemoryError) throw queryTooLarge()
    throw error instanceof DOMException && error.name === 'TimeoutError'
      ? queryTooSlow(timeoutMs)
      : error
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

interface Binding extends NamespaceOption {
  folder: string
  signal: AbortSignal | undefined
  /** Told which assets the tables are. */
  sources: Set<string>
}

/** Lays the tables that a query names into its folder. */
async function bind(
  assets: TableSources,
  tables: Readonly<Record<string, string>>,
  { folder, signal, sources, namespace }: Binding,
): Promise<BoundTable[]> {
  const bound: BoundTable[] = []
  const files = new Map<string, string>()
  for (const [name, ref] of Object.entries(tables)) {
    const { ref: whole, assetId, table } = await assets.info(ref, { namespace })
    const rows = table && (await assets.rows(ref, { namespace }))
    if (!rows) throw queryFailed(`${ref} is no table: import its file first.`)
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
