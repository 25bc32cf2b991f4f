import { ByrefError, type ByrefErrorCode } from '../core/errors.ts'

const FULL = 13
/** The file beside the database that its readers share found no room. */
const SHARED_MEMORY_FULL = 4874
const CORRUPT = 11
const BUSY = 5
const LOCKED = 6

/** What Node's SQLite throws. `errstr` names the kind of failure, without any SQL. */
export interface SqliteError extends Error {
  code: 'ERR_SQLITE_ERROR'
  errcode: number
  errstr: string
}

/** Whose file it is, as errors say it. */
export interface FileOwner {
  path: string
  /** Such as `conversation log`. */
  what: string
  /** The code of what is neither busy nor full. */
  failed: ByrefErrorCode
}

/** Whether somebody else uses the file just now, so that it goes later. */
export function isBusy(error: unknown): boolean {
  if (!isSqliteError(error)) return false
  const code = error.errcode & 0xff
  return code === BUSY || code === LOCKED
}

/** Whether the disk has no room. */
export function isFull(error: unknown): boolean {
  return isSqliteError(error) && (error.errcode === FULL || error.errcode === SHARED_MEMORY_FULL)
}

/** Whether a part of the file cannot be read, whoever reads it. */
export function isCorrupt(error: unknown): error is SqliteError {
  return isSqliteError(error) && (error.errcode & 0xff) === CORRUPT
}

/** What the owner throws for a failure of the storage; anything else as it is. */
export function fileError(error: unknown, owner: FileOwner): unknown {
  if (!isSqliteError(error)) return error
  const { path, what, failed } = owner
  if (isBusy(error)) return busyError(error, owner)
  if (isFull(error)) {
    return new ByrefError(
      'storage_full',
      `The disk of the ${what} "${path}" is full: nothing was stored; make room and try again`,
      { cause: error },
    )
  }
  return new ByrefError(
    failed,
    `The ${what} "${path}" failed: ${error.errstr}. See the cause; check that the file is a byref ${what} that can be written`,
    { cause: error },
  )
}

/** For what waited too long. */
export function busyError(cause: unknown, { path, what, failed }: FileOwner): ByrefError {
  return new ByrefError(
    failed,
    `The ${what} "${path}" is held by another process for too long: end what writes to it, or give a longer busyTimeoutMs`,
    { cause },
  )
}

/** Whether SQLite threw it. */
export function isSqliteError(error: unknown): error is SqliteError {
  return error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR'
}
