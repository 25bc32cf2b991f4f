import { ByrefError, errorMessage } from '../../core/errors.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import { optionalPeer } from '../../optional-peer.ts'
import { packageFile } from '../../package-file.ts'

const { createRequire } = nodeBuiltin('node:module')

/** The library. */
export type Duckdb = typeof import('@duckdb/node-api')

/** A connection to a separate database. */
export type DuckdbConnection = import('@duckdb/node-api').DuckDBConnection

/** The feature that needs DuckDB, for errors. */
export const FOR_SQL = 'SQL over tables'

/** The limits of a database. */
export interface DuckdbScope {
  /** Such as `512MB`. */
  memory: string
  /** Paths that it may read. Null for our own database, which may read and write any path. */
  files: readonly string[] | null
}

/** Loads DuckDB in a table process. Its work ends with the process. */
export function loadDuckdb(): Promise<Duckdb> {
  return optionalPeer('@duckdb/node-api', FOR_SQL)
}

/**
 * Opens a separate database in memory. With `files` it can read these and nothing else: no other path, no network, no
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
    if (files) await restrict(connection, files)
    return await use(connection)
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

/** Lets a database read these files and nothing else. Sets the paths first, and then locks the configuration. */
async function restrict(connection: DuckdbConnection, files: readonly string[]): Promise<void> {
  await connection.run(`set allowed_paths=[${files.map(quoted).join(', ')}]`)
  await connection.run('set enable_external_access=false')
  await connection.run('set autoinstall_known_extensions=false')
  await connection.run('set autoload_known_extensions=false')
  await connection.run('set lock_configuration=true')
}

/** Quotes a text for SQL. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** Quotes a name for SQL. */
export function named(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** A table of DuckDB itself as a suggestion for an unknown name. */
const SYSTEM_TABLE = /\nDid you mean "(?:pg_|sqlite_|duckdb_|pragma_|information_schema)[^"]*"\?/

/**
 * Returns the error for a wrong query, from a reason or a message of DuckDB. A ByrefError stays unchanged. `tables` are
 * the names that the query was given for its tables.
 */
export function queryFailed(reason: unknown, tables: readonly string[] = []): ByrefError {
  if (reason instanceof ByrefError) return reason
  const known =
    tables.length > 0
      ? ` The tables of this query are ${tables.map(named).join(', ')}.`
      : ' Tables are named by their references in double quotes: from "asset://id".'
  const message = typeof reason === 'string' ? reason : errorMessage(reason)
  const why = message.replace(SYSTEM_TABLE, '')
  const hint = /\b(does not exist|syntax error)\b/.test(why) ? known : ''
  return new ByrefError('invalid_arguments', `The query failed. ${why}${hint}`, { cause: reason })
}

/** Below this size in bytes, starting DuckDB takes longer than it saves. */
export const WORTH_BYTES = 4 * 1024 * 1024

let found: boolean | undefined

/** Returns the path of the program of table processes. Null in a bundle that has no installed byref next to it. */
export function tableProgram(): string | null {
  const isSource = import.meta.url?.endsWith('.ts')
  return packageFile(
    isSource ? 'src/assets/tables/table-child.ts' : 'dist/assets/tables/table-child.js',
  )
}

/** Returns whether DuckDB, an optional package, is installed. Only table processes load it. */
export function hasDuckdb(): boolean {
  found ??= isInstalled('@duckdb/node-api')
  return found
}

function isInstalled(name: string): boolean {
  try {
    const program = tableProgram()
    if (program === null) return false
    createRequire(program).resolve(name)
    return true
  } catch {
    // Also where there is no Node.
    return false
  }
}
