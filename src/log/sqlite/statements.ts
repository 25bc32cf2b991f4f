import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Connection } from '../../sqlite/connection.ts'
import type { FileKind } from '../../sqlite/open-file.ts'
import type { ReadRows } from '../conversation-query.ts'
import { RUN_CHANGES, RUN_COLUMNS } from '../run-rows.ts'
import { MIGRATIONS } from './log-file.ts'

const SQL = {
  begin: 'BEGIN IMMEDIATE',
  commit: 'COMMIT',
  // conversations
  find: 'SELECT * FROM conversations WHERE namespace = ? AND id = ?',
  create: 'INSERT INTO conversations (namespace, id, created, updated) VALUES (?, ?, ?, ?)',
  update: `UPDATE conversations SET updated = ?, position = ?, state = ?, due = ?, root = ?,
    lease_owner = ?, lease_until = ? WHERE key = ?`,
  lease: 'UPDATE conversations SET lease_owner = ?, lease_until = ? WHERE key = ?',
  name: 'UPDATE conversations SET name = ? WHERE key = ?',
  setAside: 'UPDATE conversations SET damage = ? WHERE key = ?',
  deleteConversation: 'DELETE FROM conversations WHERE key = ?',
  // records and debug data
  insert:
    'INSERT INTO records (conversation, position, at, event, sum, message) VALUES (?, ?, ?, ?, ?, ?)',
  read: `SELECT position, at, event, sum FROM records WHERE conversation = ? AND position > ?
    ORDER BY position LIMIT ?`,
  ofMessage: 'SELECT id, event FROM records WHERE conversation = ? AND message = ?',
  markDeleted: 'UPDATE records SET deleted = 1 WHERE id = ? AND deleted = 0',
  deleted: 'SELECT event FROM records WHERE conversation = ? AND deleted = 1',
  putDebug: `INSERT INTO debug (conversation, message, value) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET value = excluded.value`,
  debug: 'SELECT value FROM debug WHERE conversation = ? AND message = ?',
  debugLines: `SELECT id, message, value FROM debug WHERE conversation = ? AND id > ?
    ORDER BY id LIMIT ?`,
  // runs
  putRun: `INSERT INTO runs (conversation, namespace, ${RUN_COLUMNS.join(', ')})
    VALUES (?, ?, ${RUN_COLUMNS.map(() => '?').join(', ')})
    ON CONFLICT (conversation, run) DO UPDATE SET ${RUN_CHANGES}`,
  deleteRuns: 'DELETE FROM runs WHERE conversation = ?',
  // what other processes do
  dataVersion: 'PRAGMA data_version',
  lastRecord: "SELECT seq FROM sqlite_sequence WHERE name = 'records'",
  lastNotice: "SELECT seq FROM sqlite_sequence WHERE name = 'notices'",
  recordsBetween: `SELECT r.id, r.position, r.at, r.event, r.sum, c.namespace, c.id AS conversation FROM records r
    JOIN conversations c ON c.key = r.conversation
    WHERE r.id > ? AND r.id <= ? AND r.id > c.imported ORDER BY r.id LIMIT ?`,
  noticesBetween: 'SELECT * FROM notices WHERE id > ? AND record <= ? ORDER BY id',
  addNotice: `INSERT INTO notices (record, at, namespace, conversation, deleted)
    VALUES (coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'records'), 0), ?, ?, ?, ?)`,
  pruneNotices: 'DELETE FROM notices WHERE at < ?',
  // what is being imported or removed
  putLeftover: 'INSERT INTO leftovers (key, touched) VALUES (?, ?)',
  touchLeftover: 'UPDATE leftovers SET touched = ? WHERE key = ?',
  dropLeftover: 'DELETE FROM leftovers WHERE key = ?',
  oldLeftovers: 'SELECT key FROM leftovers WHERE touched < ?',
  publish: `INSERT INTO conversations (key, namespace, id, name, created, updated, position, state, due, root, imported)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  unindexSome: `DELETE FROM search WHERE rowid IN
    (SELECT id * 2 FROM records WHERE conversation = ? ORDER BY position LIMIT ?)`,
  removeRecords: `DELETE FROM records WHERE id IN
    (SELECT id FROM records WHERE conversation = ? ORDER BY position LIMIT ?)`,
  removeDebug: 'DELETE FROM debug WHERE conversation = ?',
  removeDebugOf: 'DELETE FROM debug WHERE conversation = ? AND message = ?',
  // the search
  indexed: 'SELECT indexed FROM searchable',
  setIndexed: 'UPDATE searchable SET indexed = ?',
  toIndex: 'SELECT id, event, deleted FROM records WHERE id > ? ORDER BY id LIMIT ?',
  index: 'INSERT INTO search (rowid, text) VALUES (?, ?)',
  unindex: 'DELETE FROM search WHERE rowid = ?',
  messages: `SELECT position, event FROM records WHERE conversation = ? AND position > ?
    AND deleted = 0 AND instr(event, 'NEW_MESSAGE') > 0 ORDER BY position LIMIT ?`,
} as const

/** Every statement of the log, prepared once. */
export type Statements = Record<keyof typeof SQL, StatementSync> & {
  /** Returns a statement that is composed at run time, prepared at its first use. */
  other(sql: string): StatementSync
}

/** Prepares all statements. @throws What SQLite throws */
function prepareStatements(db: DatabaseSync): Statements {
  const others = new Map<string, StatementSync>()
  const entries = Object.entries(SQL).map(([name, sql]) => {
    const statement = db.prepare(sql)
    // `run` then returns the last rowid as a bigint. In the search index, it can exceed the safe integers, and Node 26
    // throws for such a number.
    if (!/^SELECT|RETURNING/.test(sql)) statement.setReadBigInts(true)
    return [name, statement]
  })
  return {
    ...(Object.fromEntries(entries) as Record<keyof typeof SQL, StatementSync>),
    other(sql) {
      const statement = others.get(sql) ?? db.prepare(sql)
      others.set(sql, statement)
      return statement
    },
  }
}

/** Returns the rows of a statement, with the type that its SQL gives them. */
export function rowsOf<Row extends object>(rows: readonly object[]): Row[] {
  return rows as Row[]
}

/** The connection of a log to its file. */
export type LogConnection = Connection<Statements>

/** How the file of a log is migrated and prepared. */
export const LOG_FILE: FileKind<Statements> = {
  name: 'The log',
  code: 'log_failed',
  steps: MIGRATIONS.map((sql) => (db) => db.exec(sql)),
  prepare: prepareStatements,
}

/** Reads the rows of statements that are composed at run time. */
export function rowReader({ read }: LogConnection): ReadRows {
  return (sqlOf) => {
    // Named, because Node 22 does not bind numbered parameters such as `?1`.
    const values: Record<string, string | number> = {}
    const value = (given: string | number): string => {
      const name = `p${Object.keys(values).length}`
      values[name] = given
      return `:${name}`
    }
    const now = () => value(Date.now())
    const useDueIndex = 'INDEXED BY conversations_due'
    const sql = sqlOf({ value, find: 'instr', schema: '', now, useDueIndex })
    return read(({ other }) => rowsOf(other(sql).all(values)))
  }
}
