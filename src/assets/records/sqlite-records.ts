import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { checkOptions, checkValue, is } from '../../core/check-options.ts'
import { newId } from '../../core/new-id.ts'
import { type Connection, connect } from '../../sqlite/connection.ts'
import type { FileKind } from '../../sqlite/open-file.ts'
import type { RecordIndex } from './record-index.ts'
import { type SqlWork, type Statement, sqlRecords } from './sql-records.ts'

/** Options of {@link sqliteRecords}. */
export interface SqliteRecordsOptions {
  /** Maximum time to wait while other processes hold the file, in milliseconds. Default 60,000. */
  busyTimeoutMs?: number
}

/**
 * Records in one SQLite file, with Node's own `node:sqlite`. What resolves has reached the disk (WAL, `synchronous=FULL`);
 * concurrent writes share one sync. Several processes on one machine may use one file. The file and its folder are
 * created when the index is opened. An existing index can be read even on a full or read-only disk.
 *
 * @param path A file's path, or `:memory:`.
 */
export function sqliteRecords(path: string, options: SqliteRecordsOptions = {}): RecordIndex {
  checkOptions('sqliteRecords', options, { busyTimeoutMs: is.notNegative })
  checkValue(is.string, path, 'The path of sqliteRecords')
  let connection: Connection<SqliteStatements> | null = null

  function open(): Connection<SqliteStatements> {
    if (connection) return connection
    const owner = { path, what: 'index of assets', failed: 'storage_failed' } as const
    connection = connect({ owner, kind: RECORDS_FILE, ...options })
    return connection
  }

  const read = async <T>(work: () => SqlWork<T>) => open().read((sql) => run(sql, work()))
  return sqlRecords({
    name: 'sqlite',
    read,
    snapshot: read,
    write: async (work) => open().write((sql) => run(sql, work())),
    among: (column, list) => `${column} IN (SELECT value FROM json_each(${list}))`,
    bodiesIn: (list) =>
      `(SELECT value ->> 'digest' AS digest, value ->> 'key' AS key, value ->> 'size' AS size
        FROM json_each(${list}))`,
    // A write transaction of SQLite is alone already.
    lock: 'SELECT assets, bytes FROM byref.assets_spaces WHERE namespace = $1',
    async close() {
      await connection?.close()
    },
  })
}

/** Runs work at once: SQLite answers synchronously. */
function run<T>({ statement }: SqliteStatements, work: SqlWork<T>): T {
  let next = work.next()
  while (!next.done) {
    const { text, values }: Statement = next.value
    let rows: ReturnType<StatementSync['all']> = []
    for (const one of [text].flat()) {
      const { prepared, places } = statement(one)
      rows = prepared.all(...places.map((place) => values[place] as SQLInputValue))
    }
    next = work.next(rows)
  }
  return next.value
}

/** A namespace '' means none. `bodies` is JSON: key, digest and size of each, the record's own first. `record` has the rest. */
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

interface SqliteStatements {
  begin: StatementSync
  commit: StatementSync
  /** Returns a statement of the index, prepared once, and for each of its placeholders the position of the value. */
  statement(text: string): { prepared: StatementSync; places: readonly number[] }
}

/** The file of an index. */
const RECORDS_FILE: FileKind<SqliteStatements> = {
  name: 'The index of assets',
  code: 'config_invalid',
  steps: [makeTables],
  prepare(db) {
    const known = new Map<string, ReturnType<SqliteStatements['statement']>>()
    return {
      begin: db.prepare('BEGIN IMMEDIATE'),
      commit: db.prepare('COMMIT'),
      statement(text) {
        const made = known.get(text) ?? prepare(db, text)
        known.set(text, made)
        return made
      },
    }
  },
}

function prepare(db: DatabaseSync, text: string) {
  const places = [...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number) - 1)
  const local = text.replaceAll(/byref\.(?:assets_)?/g, '').replaceAll(/\$\d+/g, '?')
  return { prepared: db.prepare(local), places }
}

function makeTables(db: DatabaseSync): void {
  db.exec(TABLES)
  db.prepare('INSERT INTO self (id) VALUES (?)').run(newId())
}
