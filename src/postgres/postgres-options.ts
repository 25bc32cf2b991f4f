import type { Pool } from 'pg'
import pg from 'pg'
import { is, type OptionTable } from '../core/check-options.ts'
import { ByrefError } from '../core/errors.ts'

/** Which database, and where in it. */
export type PostgresOptions = (
  | {
      /** Such as `postgresql://user:password@host:5432/database`. */
      connectionString: string
      /** At most so many connections at once; one more listens while there are subscribers. Default: 10. */
      maxConnections?: number
    }
  | {
      /** A pool of your own, which you close yourself, after what uses it. */
      pool: Pool
    }
) & {
  /** The schema that holds the tables, made if it is not there: lower case letters, digits and `_`. Default: `byref`. */
  schema?: string
}

export const POSTGRES_OPTIONS: OptionTable<PostgresOptions> = {
  connectionString: is.string,
  maxConnections: is.count,
  pool: is.having('a pool of pg', 'query', 'connect'),
  schema: is.string,
}

/** What a server does not do for longer, in milliseconds, so that neither a lock nor a lost network holds anybody up for ever. */
const LIMITS = {
  statement_timeout: 60_000,
  lock_timeout: 30_000,
  // A process that stands still in the middle of a transaction holds its locks no longer than this.
  idle_in_transaction_session_timeout: 20_000,
  query_timeout: 90_000,
  connectionTimeoutMillis: 30_000,
}

/** The schema of the options. @throws ByrefError `config_invalid` */
export function schemaOf({ schema = 'byref' }: { schema?: string }): string {
  if (/^[a-z_][a-z0-9_]{0,47}$/.test(schema) && !schema.startsWith('pg_')) return schema
  throw new ByrefError(
    'config_invalid',
    'schema must be 1 to 48 lower case letters, digits and "_", begin with no digit and not with "pg_"',
  )
}

/** The pool of the options, and whether it is ours to close. @throws ByrefError `config_invalid` */
export function poolOf(options: PostgresOptions): { pool: Pool; isOwn: boolean } {
  if ('pool' in options) return { pool: withErrorListener(options.pool), isOwn: false }
  const { connectionString, maxConnections = 10 } = options
  if (!/^(postgres|postgresql|socket):/.test(connectionString) || !isReadable(connectionString)) {
    // Without the text itself and without a cause: either would tell the password.
    throw new ByrefError(
      'config_invalid',
      'The connection string of PostgreSQL cannot be read: it is postgresql://user:password@host:5432/database, with what is special in a password written as %40',
    )
  }
  const pool = new pg.Pool({
    ...{ connectionString, max: maxConnections, ...LIMITS },
    ...{ application_name: 'byref', keepAlive: true, allowExitOnIdle: true },
  })
  return { pool: withErrorListener(pool), isOwn: true }
}

function isReadable(connectionString: string): boolean {
  try {
    new pg.Client({ connectionString })
    return true
  } catch {
    return false
  }
}

const heardPools = new WeakSet<Pool>()

/**
 * Listens for the errors of a pool and of each of its connections, from the first moment of each. An error that nobody listens
 * for would end the process; whoever uses a lost connection next is told by a rejection.
 */
function withErrorListener(pool: Pool): Pool {
  if (heardPools.has(pool)) return pool
  heardPools.add(pool)
  pool.on('error', ignore)
  // The pool emits it before it takes its own listener away, also for connections that are older than ours.
  pool.on('acquire', (client) => {
    if (client.listenerCount('error', ignore) === 0) client.on('error', ignore)
  })
  return pool
}

function ignore(): void {}
