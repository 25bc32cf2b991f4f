import { ByrefError, type ByrefErrorCode } from '../core/errors.ts'

/** Whose database it is, as errors say it. */
export interface DatabaseOwner {
  /** Such as `conversation log`. */
  what: string
  /** The code of what is not a full disk. */
  failed: ByrefErrorCode
}

const LOST = 'the connection was lost; what was being stored may have been stored: try again'

/** What to do, by SQLSTATE or code of Node; by its first two characters where all of a class mean the same. */
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
    'there is no such database: make it (createdb), or name another in the connection string',
  '3F000': 'its schema is gone: restore it from a backup, or open it again to begin anew',
  '42P01': 'its tables are gone: restore them from a backup, or open it again to begin anew',
  '42501':
    'the user lacks rights: let it create a schema in the database (GRANT CREATE ON DATABASE), or make it the owner of a schema that is there',
  '25006': 'the server only reads: name the primary server in the connection string',
  '53300': 'the server has no connection left: raise its max_connections, or let pools be smaller',
  '53200': 'the server is out of memory',
  '55P03': 'somebody held a lock for too long: try again, and look at pg_stat_activity',
  '57014': 'it took too long and was stopped: try again, and look at pg_stat_activity',
  '40': 'it met another transaction: try again',
  ECONNREFUSED: 'no server answers there: check host and port, and that it runs',
  ENOTFOUND: 'the host is not known: check the connection string',
  ETIMEDOUT: 'the server does not answer: check host, port and network',
  ENOENT: 'no server answers there: check the folder of its socket, and that it runs',
}

/** What the `pg` package says in words only. */
const WORDS: [RegExp, string][] = [
  [
    /^timeout exceeded when trying to connect/,
    'no connection was free for too long: give the pool more connections',
  ],
  [/due to connection timeout/, 'the server does not answer: check host, port and network'],
  [/^Query read timeout/, 'the server did not answer for too long: try again'],
  [/[Cc]onnection|not queryable|after calling end/, LOST],
  [/password/, 'the server refused the user or the password: check the connection string'],
]

/** What the owner throws for anything that PostgreSQL or the way to it threw. */
export function databaseError(error: unknown, { what, failed }: DatabaseOwner): ByrefError {
  if (error instanceof ByrefError) return error
  const code = codeOf(error)
  if (code === '53100') {
    return new ByrefError(
      'storage_full',
      `The disk of the ${what} on PostgreSQL is full: nothing was stored; make room and try again`,
      { cause: error },
    )
  }
  const known = ADVICE[code] ?? ADVICE[code.slice(0, 2)] ?? wordsOf(error)
  const advice = known ?? `see the cause${code && ` (${code})`}`
  return new ByrefError(failed, `The ${what} on PostgreSQL failed: ${advice}`, { cause: error })
}

/** Whether a connection is of no use after this error: nobody knows what it would answer next. */
export function endsConnection(error: unknown): boolean {
  const isOfServer = error instanceof Error && 'severity' in error
  return !isOfServer || error.severity === 'FATAL' || error.severity === 'PANIC'
}

/** Whether a part of a table cannot be read, whoever reads it: XX001 is a damaged page, XX002 a damaged index. */
export function isCorrupt(error: unknown): boolean {
  const code = codeOf(error instanceof ByrefError ? error.cause : error)
  return code === 'XX001' || code === 'XX002'
}

/** The SQLSTATE, or Node's code; '' for none. */
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
