import { ByrefError } from '../../errors.ts'

const FULL = 13
/** The file beside the database that its readers share found no room. */
const SHARED_MEMORY_FULL = 4874
const BUSY = 5
const LOCKED = 6

/** What Node's SQLite throws. `errstr` names the kind of failure, without any SQL. */
export interface SqliteError extends Error {
  code: 'ERR_SQLITE_ERROR'
  errcode: number
  errstr: string
}

/** Whether somebody else uses the file just now, so that it goes later. */
export function isBusy(error: unknown): boolean {
  if (!isSqliteError(error)) return false
  const code = error.errcode & 0xff
  return code === BUSY || code === LOCKED
}

/** What the log throws for a failure of the storage; anything else as it is. */
export function toLogError(error: unknown, path: string): unknown {
  if (!isSqliteError(error)) return error
  if (isBusy(error)) return busyError(error, path)
  if (error.errcode === FULL || error.errcode === SHARED_MEMORY_FULL) {
    return new ByrefError(
      'storage_full',
      `The disk of the conversation log "${path}" is full: nothing was stored; make room and try again`,
      { cause: error },
    )
  }
  return new ByrefError(
    'log_failed',
    `The conversation log "${path}" failed: ${error.errstr}. See the cause; check that the file is a byref log that can be written`,
    { cause: error },
  )
}

/** For what waited too long. */
export function busyError(cause: unknown, path: string): ByrefError {
  return new ByrefError(
    'log_failed',
    `The conversation log "${path}" is held by another process for too long: end what writes to it, or give a longer busyTimeoutMs`,
    { cause },
  )
}

/** Whether SQLite threw it. */
export function isSqliteError(error: unknown): error is SqliteError {
  return error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR'
}
