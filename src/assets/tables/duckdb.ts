import { optionalPeer } from '../../optional-peer.ts'

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
    ...{ threads: '2', memory_limit: memory },
    ...{ temp_directory: '', max_temp_directory_size: '0KB' },
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
