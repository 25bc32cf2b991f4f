import type { DatabaseSync } from 'node:sqlite'
import { ByrefError, type ByrefErrorCode } from '../core/errors.ts'
import { nodeBuiltin } from '../node-builtin.ts'
import { isSqliteError } from './sqlite-errors.ts'

const { existsSync, statSync } = nodeBuiltin('node:fs')
const { pathToFileURL } = nodeBuiltin('node:url')

/** SQLite's codes if it cannot create its files next to the database: cannot open, full, no shared memory. */
const NO_FILES_BESIDE = new Set([14, 13, 4874, 5898])

/** An open file, and its prepared statements. */
export interface OpenFile<S> {
  db: DatabaseSync
  sql: S
  /** Why it was opened read-only, and must be opened again for the next use; null if it can be written. */
  problem: Error | null
  /** Whether its path now names another file or none, so that nobody would find what is written. */
  isMoved(): boolean
}

/** How a file is migrated and prepared. */
export interface FileKind<S> {
  /** A name for errors, such as `The log`. */
  name: string
  /** The code of the error if the file has a later version. */
  code: ByrefErrorCode
  /**
   * Each step migrates a file from its index to the next version (`PRAGMA user_version`). Never change a step; add one.
   */
  steps: readonly ((db: DatabaseSync) => void)[]
  prepare(db: DatabaseSync): S
}

/**
 * Opens or creates the file without retries: a busy file fails. If SQLite has no space or permission for its files next
 * to the database, a file that its last user has closed is opened read-only.
 *
 * @throws What SQLite throws; ByrefError `dependency_missing` in a runtime that has only the name of `node:sqlite`
 */
export function openFile<S>(path: string, kind: FileKind<S>): OpenFile<S> {
  // Loaded here, because most programs open no database.
  const { DatabaseSync: Database } = nodeBuiltin('node:sqlite')
  try {
    return { ...prepare(new Database(path, { timeout: 0 }), kind), isMoved: moveCheck(path) }
  } catch (error) {
    if (error instanceof TypeError && !('code' in error)) throw notThere(error)
    if (!isSqliteError(error) || !NO_FILES_BESIDE.has(error.errcode) || !isClosed(path)) throw error
    const url = pathToFileURL(path)
    url.search = 'mode=ro&immutable=1'
    return { ...prepare(new Database(url), kind), problem: error, isMoved: () => false }
  }
}

/** Checks the file and its write-ahead log, which stays in its place while the file is open. */
function moveCheck(path: string): () => boolean {
  const checks = [path, `${path}-wal`].map((one) => {
    const find = () => statSync(one, { throwIfNoEntry: false })
    const opened = find()
    // For example `:memory:`.
    if (!opened) return () => false
    return () => {
      const now = find()
      // Some network disks change the number of a file that stays the same.
      return !now || (now.ino !== opened.ino && now.birthtimeMs !== opened.birthtimeMs)
    }
  })
  return () => checks.some((isMoved) => isMoved())
}

/** Returns the error for Cloudflare's workerd, which has the module, but cannot open a database. */
function notThere(cause: TypeError): ByrefError {
  const message =
    'This needs node:sqlite, which this runtime does not have: run it in Node.js, Bun or Deno, or keep records in PostgreSQL'
  return new ByrefError('dependency_missing', message, { cause })
}

function prepare<S>(db: DatabaseSync, kind: FileKind<S>): Omit<OpenFile<S>, 'isMoved'> {
  try {
    // What is deleted is overwritten with zeros, so that the file no longer contains it.
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON')
    migrate(db, kind)
    return { db, sql: kind.prepare(db), problem: null }
  } catch (error) {
    db.close()
    throw error
  }
}

/** Migrates a file to the last version. Two processes may do it at the same time. */
function migrate(db: DatabaseSync, kind: FileKind<unknown>): void {
  const { steps } = kind
  if (versionOf(db, kind) === steps.length) return
  db.exec('BEGIN IMMEDIATE')
  try {
    for (const step of steps.slice(versionOf(db, kind))) step(db)
    db.exec(`PRAGMA user_version = ${steps.length}`)
    db.exec('COMMIT')
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

/** @throws ByrefError with the code of the kind for a later version */
function versionOf(db: DatabaseSync, { name, code, steps }: FileKind<unknown>): number {
  const version = Number(db.prepare('PRAGMA user_version').get()?.user_version)
  if (version <= steps.length) return version
  throw new ByrefError(
    code,
    `${name} has version ${version}, and this byref supports versions up to ${steps.length}. Update byref, or use another file.`,
  )
}

/** Returns whether the write-ahead log is empty, so that everything is in the file. */
function isClosed(path: string): boolean {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false })
  return (log?.size ?? 0) === 0 && existsSync(path)
}

/** Moves the write-ahead log into the file, so that the log is written from its beginning and needs no more space. */
export function makeRoom(open: () => OpenFile<unknown>): void {
  try {
    open().db.exec('PRAGMA wal_checkpoint(RESTART)')
  } catch {
    // The disk has no space for the file either, or the file cannot be opened without more space.
  }
}

/** Closes the file, and empties the write-ahead log if nobody else uses it. */
export function closeFile({ db }: OpenFile<unknown>): void {
  try {
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // The file is busy or the disk is full. The write-ahead log is safe, and the next user of the file reads it.
  }
  db.close()
}
