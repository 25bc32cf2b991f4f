import { ByrefError, type ByrefErrorCode, errorMessage, UnavailableError } from '../core/errors.ts'

/** The user of a database, for error messages. */
export interface DatabaseOwner {
  /** A name, such as `conversation log`. */
  what: string
  /** The code of every error except a full disk. */
  failed: ByrefErrorCode
}

const LOST =
  'the connection was lost, and the last write may or may not have been stored: try again'

/** Advice by SQLSTATE or Node's error code. Two characters stand for a class of SQLSTATEs. */
const ADVICE: Record<string, string> = {
  '08': LOST,
  '57P01': LOST,
  '57P02': LOST,
  '57P05': LOST,
  ECONNRESET: LOST,
  EPIPE: LOST,
  '57P03': 'the server is starting or stopping: try again in a moment',
  '28': 'the server refused the user or the password: check the connection string',
  '3D000':
    'the database does not exist: create it (createdb), or name another in the connection string',
  '3F000': 'its schema is missing: restore it from a backup, or open it again to create a new one',
  '42P01':
    'its tables are missing: restore them from a backup, or open it again to create new ones',
  '42501':
    'the user lacks permissions: allow it to create a schema (GRANT CREATE ON DATABASE), or make it the owner of an existing schema',
  '25006': 'the server is read-only: name the primary server in the connection string',
  '53300': 'the server has no free connection: raise its max_connections, or make pools smaller',
  '53200': 'the server is out of memory',
  '55P03': 'another session held a lock for too long: try again, and look at pg_stat_activity',
  '57014': 'the statement took too long and was cancelled: try again, and look at pg_stat_activity',
  '40': 'it conflicted with another transaction: try again',
  ECONNREFUSED: 'no server answers: check the host and the port, and that the server is running',
  ENOTFOUND: 'the host is unknown: check the connection string',
  ETIMEDOUT: 'the server does not answer: check host, port and network',
  ENOENT: 'no server answers: check the folder of its socket, and that the server is running',
}

/** Errors of the `pg` package without a code. */
const WORDS: [RegExp, string][] = [
  [
    /does not support SSL/,
    'the server does not use TLS: remove sslmode from the connection string, or turn TLS on in the server',
  ],
  [
    /^timeout exceeded when trying to connect/,
    'no connection became free in time: give the pool more connections',
  ],
  [/due to connection timeout/, 'the server does not answer: check host, port and network'],
  [/^Query read timeout/, 'the server did not answer in time: try again'],
  [/[Cc]onnection|not queryable|after calling end/, LOST],
  [/password/, 'the server refused the user or the password: check the connection string'],
]

/** Codes with which the same work may succeed later, besides those of a lost connection. */
const UNAVAILABLE: ReadonlySet<string> = new Set([
  '57P03',
  '53300',
  'ECONNREFUSED',
  'ETIMEDOUT',
  'ENOENT',
  '55P03',
  '57014',
  '40001',
  '40P01',
])

/** Errors of the `pg` package for a server or a pool that did not answer in time. */
const TIMEOUT =
  /^(timeout exceeded when trying to connect|Query read timeout)|due to connection timeout/

const NOT_CONNECTED =
  'the server closed the connection before it was ready: check that PostgreSQL answers at this host and port'

/**
 * Returns the error that the owner throws for any error of PostgreSQL or of the connection.
 *
 * @param options.isConnecting Whether the connection was not ready yet, so that nothing was written.
 */
export function databaseError(
  error: unknown,
  { what, failed }: DatabaseOwner,
  { isConnecting = false }: { isConnecting?: boolean } = {},
): ByrefError {
  if (error instanceof ByrefError) return error
  const code = codeOf(error)
  if (code === '53100') {
    return new ByrefError(
      'storage_full',
      `The disk of the ${what} on PostgreSQL is full, and nothing was stored: make room and try again`,
      { cause: error },
    )
  }
  const known = ADVICE[code] ?? ADVICE[code.slice(0, 2)] ?? wordsOf(error)
  const fitting = isConnecting && known === LOST ? NOT_CONNECTED : known
  const advice = fitting ?? `see the cause${code && ` (${code})`}`
  const isTemporary = known === LOST || UNAVAILABLE.has(code) || TIMEOUT.test(errorMessage(error))
  const Failure = isTemporary ? UnavailableError : ByrefError
  return new Failure(failed, `The ${what} on PostgreSQL failed: ${advice}`, { cause: error })
}

/** Returns whether a connection cannot be used after this error, because its state is unknown. */
export function endsConnection(error: unknown): boolean {
  const isOfServer = error instanceof Error && 'severity' in error
  return !isOfServer || error.severity === 'FATAL' || error.severity === 'PANIC'
}

/** Returns whether a part of a table cannot be read: XX001 is a damaged page, XX002 a damaged index. */
export function isCorrupt(error: unknown): boolean {
  const code = codeOf(error instanceof ByrefError ? error.cause : error)
  return code === 'XX001' || code === 'XX002'
}

/** Returns the SQLSTATE or Node's error code; '' if there is none. */
export function codeOf(error: unknown): string {
  const errors = error instanceof AggregateError ? [error, ...error.errors] : [error]
  for (const one of errors) {
    if (one instanceof Error && 'code' in one && typeof one.code === 'string') return one.code
  }
  return ''
}

function wordsOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  return WORDS.find(([pattern]) => pattern.test(error.message))?.[1]
}
