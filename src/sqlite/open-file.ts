import { DatabaseSync } from 'node:sqlite'

/** An open file, and the statements that its owner prepared. */
export interface OpenFile<S> {
  db: DatabaseSync
  sql: S
}

/** How an owner's file is made and asked. */
export interface FileKind<S> {
  /** Brings it to the tables of this version; safe when two processes do it at once. */
  migrate(db: DatabaseSync): void
  prepare(db: DatabaseSync): S
}

/** Opens or makes the file, or throws what SQLite throws, at once. It waits for nobody: what is busy fails. */
export function openFile<S>(path: string, { migrate, prepare }: FileKind<S>): OpenFile<S> {
  const db = new DatabaseSync(path, { timeout: 0 })
  try {
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
    migrate(db)
    return { db, sql: prepare(db) }
  } catch (error) {
    db.close()
    throw error
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
