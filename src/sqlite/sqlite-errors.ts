import { ByrefError, type ByrefErrorCode, UnavailableError } from '../core/errors.ts'

const FULL = 13

/** There is no space for the shared-memory file next to the database. */
const SHARED_MEMORY_FULL = 4874
const CORRUPT = 11
const BUSY = 5
const LOCKED = 6

/** An error of Node's SQLite. `errstr` names the kind of failure, without any SQL. */
export interface SqliteError extends Error {
  code: 'ERR_SQLITE_ERROR'
  errcode: number
  errstr: string
}

/** The user of a file, for error messages. */
export interface FileOwner {
  path: string
  /** A name, such as `conversation log`. */
  what: string
  /** The code of every error except a full disk. */
  failed: ByrefErrorCode
}

/** Returns whether another process uses the file now, so that a later attempt may succeed. */
export function isBusy(error: unknown): boolean {
  if (!isSqliteError(error)) return false
  const code = error.errcode & 0xff
  return code === BUSY || code === LOCKED
}

/** Returns whether the disk is full. */
export function isFull(error: unknown): boolean {
  return isSqliteError(error) && (error.errcode === FULL || error.errcode === SHARED_MEMORY_FULL)
}

/** Returns whether a part of the file is damaged. */
export function isCorrupt(error: unknown): error is SqliteError {
  return isSqliteError(error) && (error.errcode & 0xff) === CORRUPT
}

/** Returns the error that the owner throws for an error of SQLite. Other errors are returned unchanged. */
export function fileError(error: unknown, owner: FileOwner): unknown {
  if (!isSqliteError(error)) return error
  const { path, what, failed } = owner
  if (isBusy(error)) return busyError(error, owner)
  if (isFull(error)) {
    return new ByrefError(
      'storage_full',
      `The disk of the ${what} "${path}" is full, and nothing was stored: make room and try again`,
      { cause: error },
    )
  }
  return new ByrefError(
    failed,
    `The ${what} "${path}" failed: ${error.errstr}. See the cause, and check that the file is a writable byref ${what}`,
    { cause: error },
  )
}

/** Returns the error for a call that waited too long. */
export function busyError(cause: unknown, { path, what, failed }: FileOwner): UnavailableError {
  return new UnavailableError(
    failed,
    `Another process locked the ${what} "${path}" for too long: stop that process, or set a longer busyTimeoutMs`,
    { cause },
  )
}

/** Returns the error for a file that was removed, moved or replaced while it was open. */
export function movedError({ path, what, failed }: FileOwner): ByrefError {
  return new ByrefError(
    failed,
    `The ${what} "${path}" was removed, moved or replaced while it was open, and nothing was stored: put the file back, or restart this process to use the file that is there now`,
  )
}

/** Returns whether SQLite threw it. */
export function isSqliteError(error: unknown): error is SqliteError {
  return error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR'
}
