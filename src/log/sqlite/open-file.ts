import { DatabaseSync } from 'node:sqlite'
import { migrate } from './migrations.ts'
import { prepareStatements, type Statements } from './statements.ts'

/** An open file. */
export interface OpenFile {
  db: DatabaseSync
  sql: Statements
}

/** Opens or makes the file, or throws what SQLite throws, at once. It waits for nobody: what is busy fails. */
export function openFile(path: string): OpenFile {
  const db = new DatabaseSync(path, { timeout: 0 })
  try {
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
    migrate(db)
    return { db, sql: prepareStatements(db) }
  } catch (error) {
    db.close()
    throw error
  }
}

/** Closes it, the write-ahead log emptied where nobody else uses it. */
export function closeFile({ db }: OpenFile): void {
  try {
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // Busy or full: what is in the write-ahead log is safe there, and found by whoever opens the file next.
  }
  db.close()
}
