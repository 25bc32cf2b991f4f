import type { DatabaseSync } from 'node:sqlite'

/** Each entry brings a file from its index to the next version (`PRAGMA user_version`). Never change one; add one. */
const MIGRATIONS = [
  `CREATE TABLE conversations (
     id TEXT PRIMARY KEY,
     title TEXT,
     created_at TEXT NOT NULL,
     updated_at TEXT NOT NULL,
     messages INTEGER NOT NULL DEFAULT 0,
     last_position INTEGER NOT NULL DEFAULT 0,
     open_run TEXT
   ) STRICT;
   CREATE TABLE records (
     position INTEGER PRIMARY KEY AUTOINCREMENT,
     conversation TEXT NOT NULL REFERENCES conversations (id),
     timestamp TEXT NOT NULL,
     event TEXT NOT NULL
   ) STRICT;
   CREATE INDEX records_of_conversation ON records (conversation, position);
   CREATE TABLE debug (
     conversation TEXT NOT NULL,
     message TEXT NOT NULL,
     value TEXT NOT NULL,
     PRIMARY KEY (conversation, message)
   ) STRICT, WITHOUT ROWID;`,
]

/** Brings the file to this version's tables; safe when two processes do it at once. */
export function migrate(db: DatabaseSync): void {
  db.exec('BEGIN IMMEDIATE')
  try {
    const version = Number(db.prepare('PRAGMA user_version').get()?.user_version)
    if (version > MIGRATIONS.length) {
      throw new Error(
        `The log has version ${version}; this byref knows up to ${MIGRATIONS.length}. Update byref to read it.`,
      )
    }
    for (const sql of MIGRATIONS.slice(version)) db.exec(sql)
    db.exec(`PRAGMA user_version = ${MIGRATIONS.length}`)
    db.exec('COMMIT')
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}
