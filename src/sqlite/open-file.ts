import type { DatabaseSync } from 'node:sqlite'
import { nodeBuiltin } from '../node-builtin.ts'
import { isSqliteError } from './sqlite-errors.ts'

const { existsSync, statSync } = nodeBuiltin('node:fs')
const { pathToFileURL } = nodeBuiltin('node:url')

/** What SQLite says where it cannot make them: cannot open, full, no shared memory. */
const NO_FILES_BESIDE = new Set([14, 13, 4874, 5898])

/** An open file, and the statements that its owner prepared. */
export interface OpenFile<S> {
  db: DatabaseSync
  sql: S
  /** It cannot be written, and is to be opened again for the next use. */
  isForTheMoment: boolean
}

/** How an owner's file is made and asked. */
export interface FileKind<S> {
  /** Brings it to the tables of this version; safe when two processes do it at once. */
  migrate(db: DatabaseSync): void
  prepare(db: DatabaseSync): S
}

/**
 * Opens or makes the file, or throws what SQLite throws, at once. It waits for nobody: what is busy fails. Where there is no
 * room, or no leave, for the files that SQLite keeps beside it, a file that was closed by its last user is read as it
 * is, for the moment.
 */
export function openFile<S>(path: string, kind: FileKind<S>): OpenFile<S> {
  // Loaded here: most programs open no database.
  const { DatabaseSync: Database } = nodeBuiltin('node:sqlite')
  try {
    return prepare(new Database(path, { timeout: 0 }), kind)
  } catch (error) {
    if (!isSqliteError(error) || !NO_FILES_BESIDE.has(error.errcode) || !isClosed(path)) throw error
  }
  const url = pathToFileURL(path)
  url.search = 'mode=ro&immutable=1'
  return { ...prepare(new Database(url), kind), isForTheMoment: true }
}

function prepare<S>(db: DatabaseSync, { migrate, prepare }: FileKind<S>): OpenFile<S> {
  try {
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
    migrate(db)
    return { db, sql: prepare(db), isForTheMoment: false }
  } catch (error) {
    db.close()
    throw error
  }
}

/** Whether all of it is in the file itself. */
function isClosed(path: string): boolean {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false })
  return (log?.size ?? 0) === 0 && existsSync(path)
}

/** Brings the write-ahead log into the file, so that it is written again from its beginning: that needs no more of the disk. */
export function makeRoom({ db }: OpenFile<unknown>): void {
  try {
    db.exec('PRAGMA wal_checkpoint(RESTART)')
  } catch {
    // The file has no room to grow either.
  }
}

/** Closes it, the write-ahead log emptied where nobody else uses it. */
export function closeFile({ db }: OpenFile<unknown>): void {
  try {
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // Busy or full: what is in the write-ahead log is safe there, and found by whoever opens the file next.
  }
  db.close()
}
