import { ByrefError } from '../../errors.ts'

type Duckdb = typeof import('@duckdb/node-api')
/** A connection to a database of its own. */
export type DuckdbConnection = import('@duckdb/node-api').DuckDBConnection

/** Bytes of a file below which what is saved by DuckDB is less than what it takes to start. */
export const WORTH_BYTES = 4 * 1024 * 1024

let loaded: Promise<Duckdb | null> | undefined

/** DuckDB, an optional package that is loaded at first use; null where it is not installed. */
export function loadDuckdb(): Promise<Duckdb | null> {
  loaded ??= import('@duckdb/node-api').catch((error: unknown) => {
    if ((error as { code?: unknown }).code === 'ERR_MODULE_NOT_FOUND') return null
    throw error
  })
  return loaded
}

/** How often what a signal has ended is told so until it ends, in milliseconds. */
const STOP_MS = 20

/** What a database may use. */
export interface DuckdbScope {
  /** Such as `512MB`. */
  memory: string
  /** Paths that it reads; null where it is ours, and may read and write any. */
  files: readonly string[] | null
  signal?: AbortSignal
}

/**
 * A database of its own, in memory. One that has `files` reads these and nothing else: no other path, no network, no
 * extension, no settings.
 */
export async function withDuckdb<T>(
  { DuckDBInstance }: Duckdb,
  { memory, files, signal }: DuckdbScope,
  use: (connection: DuckdbConnection) => Promise<T>,
): Promise<T> {
  const settings = { threads: '2', memory_limit: memory, max_temp_directory_size: '0KB' }
  const instance = await DuckDBInstance.create(':memory:', settings)
  const connection = await instance.connect()
  let stopping: NodeJS.Timeout | undefined
  const stop = (): void => {
    connection.interrupt()
    // What comes between two statements ends neither of them.
    stopping = setInterval(() => connection.interrupt(), STOP_MS)
  }
  try {
    signal?.throwIfAborted()
    signal?.addEventListener('abort', stop, { once: true })
    if (files) await shut(connection, files)
    return await use(connection)
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  } finally {
    signal?.removeEventListener('abort', stop)
    clearInterval(stopping)
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

/** The error where SQL is asked for and there is none. */
export function sqlMissing(): ByrefError {
  return new ByrefError(
    'dependency_missing',
    'Tables are queried by DuckDB, which is not installed: npm install @duckdb/node-api',
  )
}
