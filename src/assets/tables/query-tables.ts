import { ByrefError } from '../../core/errors.ts'
import { isPlainObject } from '../../core/json/json.ts'
import {
  type AssetRefParts,
  formatAssetRef,
  isAssetRef,
  parseAssetRef,
} from '../../core/refs/asset-ref.ts'
import { formatStep } from '../../core/refs/variable-ref.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import { missingPeer } from '../../optional-peer.ts'
import type { NamespaceOption } from '../asset-locator.ts'
import { fieldBelow } from '../asset-tool-input.ts'
import type { AssetReader, QueryLimits, TableQuery } from '../assets-contract.ts'
import { isJsonType } from '../bodies/mime-type.ts'
import { FOR_SQL, hasDuckdb, queryFailed } from './duckdb.ts'
import type { Importer } from './import-file.ts'
import { objectTable } from './json-table.ts'
import { SQL_TOKEN } from './query-tables-tool.ts'
import { writeBody } from './spool.ts'
import type { TableColumn } from './table-facts.ts'
import { OutOfMemoryError, runTableTask } from './table-process.ts'
import { listRows, type TableRows } from './table-rows.ts'
import type { BoundTable } from './table-task.ts'
import { type WrittenTable, writeTable } from './write-table.ts'

const { join } = nodeBuiltin('node:path')

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

/**
 * Queries tables with DuckDB's SQL in a separate process. The query sees each table that it names as a view, and
 * nothing else.
 *
 * @throws ByrefError `invalid_arguments` for SQL that is wrong, not a SELECT, or reads anything else;
 * `asset_not_found`; `result_too_large`, `tool_timeout`; `dependency_missing` without DuckDB
 */
export async function queryTables(
  { reader, importer }: { reader: AssetReader; importer: Importer },
  { sql, tables = {} }: TableQuery,
  { limits: { rows, timeoutMs }, signal, ...where }: QueryScope,
): Promise<QueryResult> {
  if (!hasDuckdb()) {
    throw new ByrefError('dependency_missing', missingPeer('@duckdb/node-api', FOR_SQL))
  }
  if (sql.length > MAX_SQL) throw queryFailed(`It is longer than ${MAX_SQL} characters.`)
  const sources = new Set<string>()
  const all = Object.entries({ ...referencesIn(sql), ...tables })
  // Files are imported before the query has a process, because an import may need one, too.
  const named = await Array.fromAsync(all, async ([name, table]): Promise<NamedTable> => {
    if (typeof table !== 'string') return { name, list: givenList(name, table) }
    return { name, ref: table, found: await importer.tableOf(table, { signal, ...where }) }
  })
  try {
    const [table] = await runTableTask(
      async (folder, signal) => {
        const bound = await bind(reader, named, { folder, signal, sources, ...where })
        // Messages to the process are JSON, which does not have Infinity.
        const most = Math.min(rows, Number.MAX_SAFE_INTEGER)
        return { type: 'query', folder, sql, tables: bound, rows: most }
      },
      { signal, timeoutMs, ...where },
    )
    // A query always has a result.
    return { table: table as WrittenTable, sources: [...sources] }
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof OutOfMemoryError) {
      const message =
        'The query exceeds the memory limit: filter or aggregate more, or select fewer columns.'
      throw new ByrefError('result_too_large', message)
    }
    if (!(error instanceof DOMException && error.name === 'TimeoutError')) throw error
    const message = `The query took longer than ${timeoutMs / 1000} s and was stopped: filter or aggregate more.`
    throw new ByrefError('tool_timeout', message)
  }
}

/** Finds references in double quotes. Comments and string literals are ignored. */
function referencesIn(sql: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const { groups } of sql.matchAll(SQL_TOKEN)) {
    const ref = groups?.quoted?.replaceAll('""', '"')
    if (ref !== undefined && /^\s*asset:/i.test(ref) && isAssetRef(ref)) found[ref] = ref
  }
  return found
}

/** What a query names: rows, or a reference and the table that it stands for. */
type NamedTable = { name: string } & (
  | { list: RowList }
  | { list?: undefined; ref: string; found: Awaited<ReturnType<Importer['tableOf']>> }
)

type Binding = Omit<QueryScope, 'limits'> & { folder: string; sources: Set<string> }

/** Writes the tables of a query into its folder, and adds their ids to `sources`. */
async function bind(
  reader: AssetReader,
  named: readonly NamedTable[],
  { folder, signal, sources, namespace }: Binding,
): Promise<BoundTable[]> {
  const bound: BoundTable[] = []
  const files = new Map<string, string>()
  for (const one of named) {
    const { name } = one
    if (one.list) {
      const file = `${bound.length}-list.parquet`
      bound.push({ name, file, columns: await writeList(one.list, join(folder, file)) })
      continue
    }
    const { ref, found } = one
    const list = found.table === null ? await listIn(reader, ref, namespace) : null
    const table = found.table ?? list?.ref
    if (table === undefined) throw queryFailed(`${ref} is ${Object(found).problem}. ${HOW}`)
    const { ref: whole, assetId } = await reader.info(table, { namespace })
    const source = list?.ref ?? whole
    const known = files.get(source)
    const file = known ?? `${files.size}.parquet`
    const path = join(folder, file)
    files.set(source, file)
    sources.add(assetId)
    if (list) {
      bound.push({ name, file, columns: await writeList(list, path) })
      continue
    }
    if (known === undefined) {
      const { stream } = await reader.open(whole, { signal, namespace })
      await writeBody(stream, path)
    }
    const { columns } = await reader.rows(table, { namespace })
    bound.push({ name, file, columns })
  }
  return bound
}

/** What a query can name. */
const HOW =
  'A query can read tables, and JSON lists of objects up to 64 MB. Name a list by its field, such as "asset://id/content/rows".'

/** Maximum size of JSON in which a list is looked for, in bytes. */
const MAX_JSON = 64 * 1024 * 1024

/** A list of rows in JSON. */
interface RowList {
  ref: string
  rows: TableRows
}

/**
 * Returns the list of rows that a reference names: the list itself, or the only one in an object. Null
 * if there is none.
 *
 * @throws ByrefError `invalid_arguments` if there are several
 */
async function listIn(
  reader: AssetReader,
  ref: string,
  namespace: NamespaceOption['namespace'],
): Promise<RowList | null> {
  const { mime, size, structured } = await reader.info(ref, { namespace })
  if (size > MAX_JSON || !(structured || isJsonType(mime))) return null
  const { fieldPath = ['content'], ...parts } = parseAssetRef(ref) as AssetRefParts
  const whole = formatAssetRef({ ...parts, fieldPath })
  const value = await reader.resolve(whole, { namespace })
  return onlyList(value, whole, (key) => fieldBelow(whole, [], [key]))
}

/**
 * Returns the list of rows that a value is, or the only one in an object. Null if there is none.
 *
 * @param nameOf Returns the name of a field of the value.
 * @throws ByrefError `invalid_arguments` if there are several
 */
function onlyList(value: unknown, name: string, nameOf: (key: string) => string): RowList | null {
  if (isRowList(value)) return { ref: name, rows: listRows(value, name) }
  const lists = Object.entries(isPlainObject(value) ? value : {}).flatMap(([key, item]) => {
    const at = nameOf(key)
    return isRowList(item) ? { ref: at, rows: listRows(item, at) } : []
  })
  if (lists.length < 2) return lists[0] ?? null
  const names = lists.map((one) => one.ref).join(', ')
  throw queryFailed(`${name} has several lists of rows. Name one of them: ${names}.`)
}

/**
 * Returns the rows that a query got as a value.
 *
 * @throws ByrefError `invalid_arguments` for a value without rows
 */
function givenList(name: string, value: object): RowList {
  const list = onlyList(value, name, (key) => `${name}${formatStep(key)}`)
  if (list) return list
  throw queryFailed(`${name} is not a list of objects with at least one row.`)
}

function isRowList(value: unknown): value is readonly object[] {
  return Array.isArray(value) && value.length > 0 && value.every(isPlainObject)
}

/** Writes a list of rows as a table, and returns its columns. */
async function writeList({ ref: name, rows }: RowList, path: string): Promise<TableColumn[]> {
  const written = await writeTable(objectTable({ name }, () => rows))
  if (!written) throw queryFailed(`${name} has no rows.`)
  try {
    await writeBody(written.body.stream(), path)
    return written.columns
  } finally {
    await written.body.dispose()
  }
}
