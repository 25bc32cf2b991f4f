import { ByrefError, errorMessage } from '../../core/errors.ts'
import { missingPeer, optionalPeer } from '../../optional-peer.ts'

type Duckdb = typeof import('@duckdb/node-api')
/** A connection to a database of its own. */
export type DuckdbConnection = import('@duckdb/node-api').DuckDBConnection

/** What DuckDB is needed for. */
export const FOR_SQL = 'SQL over tables'

/** What a database may use. */
export interface DuckdbScope {
  /** Such as `512MB`. */
  memory: string
  /** Paths that it reads; null where it is ours, and may read and write any. */
  files: readonly string[] | null
}

/** DuckDB, in a table process: what it runs is ended with the process. */
export function loadDuckdb(): Promise<Duckdb> {
  return optionalPeer('@duckdb/node-api', FOR_SQL)
}

/**
 * A database of its own, in memory. One that has `files` reads these and nothing else: no other path, no network, no
 * extension, no settings.
 */
export async function withDuckdb<T>(
  { DuckDBInstance }: Duckdb,
  { memory, files }: DuckdbScope,
  use: (connection: DuckdbConnection) => Promise<T>,
): Promise<T> {
  const instance = await DuckDBInstance.create(':memory:', {
    threads: '2',
    memory_limit: memory,
    temp_directory: '',
    max_temp_directory_size: '0KB',
  })
  const connection = await instance.connect()
  try {
    if (files) await shut(connection, files)
    return await use(connection)
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

/** Paths first; then the door is shut, and the key thrown away. */
async function shut(connection: DuckdbConnection, files: readonly string[]): Promise<void> {
  await connection.run(`set allowed_paths=[${files.map(quoted).join(', ')}]`)
  await connection.run('set enable_external_access=false')
  await connection.run('set autoinstall_known_extensions=false')
  await connection.run('set autoload_known_extensions=false')
  await connection.run('set lock_configuration=true')
}

/** A text as SQL writes it. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** A name as SQL writes it. */
export function named(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** The error of a query that is wrong, by a reason or by what DuckDB says; a ByrefError stays what it is. */
export function queryFailed(reason: unknown): ByrefError {
  if (reason instanceof ByrefError) return reason
  const hint = 'Tables are named by their references in double quotes: from "asset://id".'
  const why = typeof reason === 'string' ? reason : errorMessage(reason)
  return new ByrefError('invalid_arguments', `The query failed. ${why} ${hint}`, { cause: reason })
}

/** The error of a query that takes more memory than one may. */
export function queryTooLarge(): ByrefError {
  return new ByrefError(
    'result_too_large',
    'The query needs more memory than one may take: filter or aggregate more, or select fewer columns.',
  )
}

/** The error of a query that takes too long. */
export function queryTooSlow(ms: number): ByrefError {
  return new ByrefError(
    'tool_timeout',
    `The query took longer than ${ms / 1000} s and was stopped: filter or aggregate more.`,
  )
}

/** The error where SQL is asked for and there is none. */
export function sqlMissing(): ByrefError {
  return new ByrefError('dependency_missing', missingPeer('@duckdb/node-api', FOR_SQL))
}
