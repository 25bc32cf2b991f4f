import type { Client, ClientConfig, Pool } from 'pg'
import { is, type OptionTable } from '../core/check-options.ts'
import { ByrefError } from '../core/errors.ts'
import { onceResolved } from '../core/once-resolved.ts'
import { optionalPeer } from '../optional-peer.ts'

/** A database and a schema. */
export type PostgresOptions = (
  | {
      /** The URL of the database, such as `postgresql://user:password@host:5432/database`. */
      connectionString: string
      /** Maximum number of connections. One more listens while there are subscribers. Default: 10. */
      maxConnections?: number
    }
  | {
      /** A pool of your own. Close it yourself, after everything that uses it. */
      pool: Pool
    }
) & {
  /** The schema of the tables, created where missing: lower-case letters, digits and `_`. Default: `byref`. */
  schema?: string
}

export const POSTGRES_OPTIONS: OptionTable<PostgresOptions> = {
  connectionString: is.string,
  maxConnections: is.count,
  pool: is.having('a pool of pg', 'query', 'connect'),
  schema: is.string,
}

/** Time limits in milliseconds, so that neither a lock nor a lost network blocks forever. */
const LIMITS = {
  statement_timeout: 60_000,
  lock_timeout: 30_000,
  // A process that hangs in a transaction loses its locks after this time.
  idle_in_transaction_session_timeout: 20_000,
  query_timeout: 90_000,
  connectionTimeoutMillis: 30_000,
}

/** Returns the schema of the options. @throws ByrefError `config_invalid` */
export function schemaOf({ schema = 'byref' }: { schema?: string }): string {
  if (/^[a-z_][a-z0-9_]{0,47}$/.test(schema) && !schema.startsWith('pg_')) return schema
  throw new ByrefError(
    'config_invalid',
    'schema must be 1 to 48 lower-case letters, digits or "_", and must not begin with a digit or "pg_"',
  )
}

/** A pool that loads the package `pg` at its first use. */
export interface LazyPool {
  /** @throws ByrefError `dependency_missing`, `config_invalid` */
  open(): Promise<Pool>
  /** Closes the pool, unless it belongs to the caller. */
  close(): Promise<void>
}

/** Returns the pool of the options. @throws ByrefError `config_invalid` */
export function poolOf(options: PostgresOptions): LazyPool {
  if ('pool' in options) {
    const pool = withErrorListener(options.pool)
    return { open: async () => pool, close: async () => {} }
  }
  const { connectionString, maxConnections = 10 } = options
  if (!/^(postgres|postgresql|socket):/.test(connectionString) || !isUrl(connectionString)) {
    throw invalidString()
  }
  let opened: Pool | null = null
  return {
    open: onceResolved(async () => {
      const { default: pg } = await loadPg()
      try {
        new pg.Client({ connectionString })
      } catch {
        throw invalidString()
      }
      opened = withErrorListener(
        new pg.Pool({
          connectionString,
          max: maxConnections,
          ...LIMITS,
          application_name: 'byref',
          keepAlive: true,
          keepAliveInitialDelayMillis: 10_000,
          allowExitOnIdle: true,
        }),
      )
      return opened
    }),
    async close() {
      await opened?.end()
    },
  }
}

/** Creates a connection outside of any pool. @throws ByrefError `dependency_missing` */
export async function clientOf(config: ClientConfig): Promise<Client> {
  const { default: pg } = await loadPg()
  return new pg.Client(config)
}

function loadPg() {
  return optionalPeer('pg', 'PostgreSQL')
}

function isUrl(connectionString: string): boolean {
  try {
    // The host may be missing after a user: the default is this machine.
    const { username, password } = new URL(connectionString.replace('@/', '@localhost/'))
    decodeURIComponent(username + password)
    return true
  } catch {
    return false
  }
}

/** Returns an error without the connection string and without a cause, because both contain the password. */
function invalidString(): ByrefError {
  return new ByrefError(
    'config_invalid',
    'The connection string of PostgreSQL is invalid: write postgresql://user:password@host:5432/database, with special characters of the password escaped, such as %40 for @',
  )
}

const knownPools = new WeakSet<Pool>()

/**
 * Listens for errors of a pool and of each of its connections. An error without a listener would end the process. The
 * next use of a lost connection is rejected.
 */
function withErrorListener(pool: Pool): Pool {
  if (knownPools.has(pool)) return pool
  knownPools.add(pool)
  pool.on('error', ignore)
  // The pool emits "acquire" before it removes its own listener, also for connections from before this call.
  pool.on('acquire', (client) => {
    if (client.listenerCount('error', ignore) === 0) client.on('error', ignore)
  })
  return pool
}

function ignore(): void {}
