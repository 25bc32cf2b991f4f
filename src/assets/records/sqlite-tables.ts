import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { newId } from '../../content/new-id.ts'
import { migrate } from '../../sqlite/migrate.ts'
import type { FileKind } from '../../sqlite/open-file.ts'

/** A namespace '' is none. A record's `bodies` are JSON: digest, size and key of each, its own first. */
const TABLES = `
  CREATE TABLE self (id TEXT NOT NULL) STRICT;
  CREATE TABLE assets (
    namespace TEXT NOT NULL,
    id TEXT NOT NULL,
    created TEXT NOT NULL,
    expires TEXT,
    record TEXT NOT NULL,
    bodies TEXT NOT NULL,
    UNIQUE (namespace, id)
  ) STRICT;
  CREATE INDEX assets_by_age ON assets (namespace, created, id);
  CREATE INDEX assets_by_end ON assets (expires) WHERE expires IS NOT NULL;
  CREATE TABLE bodies (
    key TEXT NOT NULL UNIQUE,
    namespace TEXT NOT NULL,
    digest TEXT NOT NULL,
    size INTEGER NOT NULL,
    users INTEGER NOT NULL,
    UNIQUE (namespace, digest)
  ) STRICT;
  CREATE TABLE spaces (
    namespace TEXT PRIMARY KEY,
    assets INTEGER NOT NULL,
    bytes INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;`

const SQL = {
  begin: 'BEGIN IMMEDIATE',
  commit: 'COMMIT',
  self: 'SELECT id FROM self',
  find: 'SELECT record, bodies FROM assets WHERE namespace = ? AND id = ?',
  insert: `INSERT INTO assets (namespace, id, created, expires, record, bodies) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT DO NOTHING`,
  remove: `DELETE FROM assets WHERE namespace = ? AND id = ? AND (expires IS NOT NULL AND expires <= ?) = ?
    RETURNING bodies`,
  page: `SELECT record, bodies FROM assets WHERE namespace = ? AND (expires IS NULL OR expires > ?)
    AND (created, id) < (?, ?) ORDER BY created DESC, id DESC LIMIT ?`,
  expired: 'SELECT namespace, id FROM assets WHERE expires <= ? LIMIT ?',
  expiredIn: 'SELECT bodies FROM assets WHERE namespace = ? AND expires <= ?',
  namespaces: `SELECT namespace FROM spaces s WHERE EXISTS (SELECT 1 FROM assets a
    WHERE a.namespace = s.namespace AND (a.expires IS NULL OR a.expires > ?))`,
  body: 'SELECT key, size, users FROM bodies WHERE namespace = ? AND digest = ?',
  putBody: 'INSERT INTO bodies (key, namespace, digest, size, users) VALUES (?, ?, ?, ?, 1)',
  use: 'UPDATE bodies SET users = users + 1 WHERE namespace = ? AND digest = ?',
  release: 'UPDATE bodies SET users = users - 1 WHERE namespace = ? AND digest = ? RETURNING users',
  removeBody: 'DELETE FROM bodies WHERE namespace = ? AND digest = ?',
  isHeld: 'SELECT 1 FROM bodies WHERE key = ?',
  space: 'SELECT assets, bytes FROM spaces WHERE namespace = ?',
  count: `INSERT INTO spaces (namespace, assets, bytes) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET assets = assets + excluded.assets, bytes = bytes + excluded.bytes`,
  forgetSpace: 'DELETE FROM spaces WHERE namespace = ? AND assets = 0',
}

/** Every statement of the index, prepared once. */
export type RecordStatements = Record<keyof typeof SQL, StatementSync>

/** An index's file. */
export const RECORDS_FILE: FileKind<RecordStatements> = {
  migrate: (db) =>
    migrate(db, [makeTables], { name: 'The index of assets', code: 'config_invalid' }),
  prepare: (db) =>
    Object.fromEntries(
      Object.entries(SQL).map(([name, sql]) => [name, db.prepare(sql)]),
    ) as RecordStatements,
}

function makeTables(db: DatabaseSync): void {
  db.exec(TABLES)
  db.prepare('INSERT INTO self (id) VALUES (?)').run(newId())
}
