import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { checkOptions, is } from '../../core/check-options.ts'
import { ByrefError } from '../../core/errors.ts'
import { newId } from '../../core/new-id.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import { type Connection, connect } from '../../sqlite/connection.ts'
import { migrate } from '../../sqlite/migrate-file.ts'
import type { FileKind } from '../../sqlite/open-file.ts'
import { assetExists } from '../asset-record.ts'
import type { StoreQuota, StoreUsage } from '../asset-store.ts'
import { checkRoom, isWithin } from './quota.ts'
import type { NewEntry, PlacedBody, RecordEntry, RecordIndex } from './record-index.ts'

const { mkdirSync } = nodeBuiltin('node:fs')
const { dirname } = nodeBuiltin('node:path')

/** Options of {@link sqliteRecords}. */
export interface SqliteRecordsOptions {
  /** How long a use waits while other processes hold the file, in milliseconds. Default 60,000. */
  busyTimeoutMs?: number
}

/** Behind every place of a list. */
const FIRST = '\u{10ffff}'

/**
 * Records in one SQLite file, by Node's own `node:sqlite`. What resolves has reached the disk (WAL, `synchronous=FULL`);
 * what comes together shares one sync. Several processes may use one file, on one machine. File and folder are made when
 * the index is opened, if they are not there; where nothing can be written, an index that is there can be read.
 *
 * @param path A file's path, or `:memory:`.
 */
export function sqliteRecords(path: string, options: SqliteRecordsOptions = {}): RecordIndex {
  checkOptions('sqliteRecords', options, { busyTimeoutMs: is.notNegative })
  let connection: Connection<RecordStatements> | null = null

  function open(): Connection<RecordStatements> {
    if (connection) return connection
    const owner = { path, what: 'index of assets', failed: 'storage_failed' } as const
    if (path !== ':memory:') makeFolder(dirname(path))
    connection = connect({ owner, kind: RECORDS_FILE, ...options })
    return connection
  }

  return {
    name: 'sqlite',
    keepsObjects: false,

    open: async () => open().read((sql) => String(sql.self.get()?.id)),

    bodies: (namespace, digests) =>
      open().read((sql) =>
        digests.flatMap((digest) => {
          const row = sql.body.get(namespace ?? '', digest)
          return row ? [{ digest, size: Number(row.size), key: String(row.key) }] : []
        }),
      ),

    add: (entry, quota) => open().write((sql) => addEntry(sql, entry, quota)),

    get: (namespace, assetId) =>
      open().read((sql) => {
        const row = sql.find.get(namespace ?? '', assetId)
        return row ? entryOf(row) : null
      }),

    list: (namespace, { after, limit, now }) =>
      open().read((sql) => {
        const place = [after?.createdAt ?? FIRST, after?.assetId ?? FIRST]
        const rows = sql.page.all(namespace ?? '', timeOf(now), ...place, limit + 1)
        const entries = rows.slice(0, limit).map(entryOf)
        return { entries, next: rows.length > limit ? (entries.at(-1)?.record ?? null) : null }
      }),

    remove: (namespace, assetId, { now, expired = false }) =>
      open().write((sql) => {
        const space = namespace ?? ''
        const row = sql.remove.get(space, assetId, timeOf(now), expired ? 1 : 0)
        return row ? release(sql, space, JSON.parse(String(row.bodies))) : null
      }),

    usage: (namespace, now) => open().read((sql) => usageIn(sql, namespace ?? '', { now })),

    namespaces: (now) =>
      open().read((sql) =>
        sql.namespaces.all(timeOf(now)).map(({ namespace }) => String(namespace) || null),
      ),

    expired: (now, limit) =>
      open().read((sql) =>
        sql.expired.all(timeOf(now), limit).map(({ namespace, id }) => ({
          namespace: String(namespace) || null,
          assetId: String(id),
        })),
      ),

    held: (keys) => open().read((sql) => new Set(keys.filter((key) => sql.isHeld.get(key)))),

    async close() {
      await connection?.close()
    },
  }
}

/** Adds an entry within a transaction, or says before anything is written why not. */
function addEntry(
  sql: RecordStatements,
  { record, bodies }: NewEntry,
  quota: StoreQuota | undefined,
): { unused: string[]; missing: string[] } {
  const { assetId, createdAt, expiresAt } = record
  const space = record.namespace ?? ''
  if (sql.find.get(space, assetId)) throw assetExists(assetId)
  const found = bodies.map((body) => ({ ...body, row: sql.body.get(space, body.digest) }))
  const missing = found.filter(({ key, row }) => key === null && !row)
  if (missing.length > 0) return { unused: [], missing: missing.map(({ digest }) => digest) }
  const fresh = found.filter(({ row }) => !row)
  const bytes = fresh.reduce((sum, { size }) => sum + size, 0)
  if (quota) checkQuota(sql, space, { bodies, bytes, quota })

  const placed: PlacedBody[] = found.map(({ digest, size, key, row }) => {
    if (row) sql.use.run(space, digest)
    else sql.putBody.run(key, space, digest, size)
    return { digest, size, key: row ? String(row.key) : String(key) }
  })
  const texts = [JSON.stringify(record), JSON.stringify(placed)]
  sql.insert.run(space, assetId, createdAt, expiresAt, ...texts)
  sql.count.run(space, 1, bytes)
  return { unused: found.flatMap(({ key, row }) => (row && key ? [key] : [])), missing: [] }
}

/** Gives up what a removed record held, and gives what nobody holds now. */
function release(sql: RecordStatements, space: string, bodies: PlacedBody[]): PlacedBody[] {
  const freed = bodies.filter(({ digest }) => sql.release.get(space, digest)?.users === 0)
  for (const { digest } of freed) sql.removeBody.run(space, digest)
  sql.count.run(space, -1, -freed.reduce((sum, { size }) => sum + size, 0))
  sql.forgetSpace.run(space)
  return freed
}

/** What is over needs no room, but counts until it is looked at. */
function checkQuota(
  sql: RecordStatements,
  space: string,
  added: { bodies: NewEntry['bodies']; bytes: number; quota: StoreQuota },
): void {
  const { bodies, bytes, quota } = added
  const held = heldBy(sql, space)
  if (isWithin({ assets: held.assets + 1, bytes: held.bytes + bytes }, quota)) return
  checkRoom(usageIn(sql, space, { now: Date.now(), more: bodies }), quota)
}

function heldBy(sql: RecordStatements, space: string): StoreUsage {
  const row = sql.space.get(space)
  return { assets: Number(row?.assets ?? 0), bytes: Number(row?.bytes ?? 0) }
}

/** What the live records hold, and what `more` bodies would. */
function usageIn(
  sql: RecordStatements,
  space: string,
  { now, more = [] }: { now: number; more?: NewEntry['bodies'] },
): StoreUsage {
  const { assets, bytes } = heldBy(sql, space)
  const over = sql.expiredIn.all(space, timeOf(now)).map(({ bodies }) => String(bodies))
  const users = new Map<string, { size: number; count: number }>()
  for (const { digest, size } of over.flatMap((text): PlacedBody[] => JSON.parse(text))) {
    users.set(digest, { size, count: (users.get(digest)?.count ?? 0) + 1 })
  }
  let live = bytes
  for (const [digest, { size, count }] of users) {
    if (sql.body.get(space, digest)?.users === count) live -= size
  }
  for (const { digest, size } of more) {
    const row = sql.body.get(space, digest)
    if (!row || row.users === users.get(digest)?.count) live += size
  }
  return { assets: assets - over.length, bytes: live }
}

function entryOf(row: Record<string, unknown>): RecordEntry {
  return { record: JSON.parse(String(row.record)), bodies: JSON.parse(String(row.bodies)) }
}

/** As records have it: text that sorts by time. */
function timeOf(now: number): string {
  return new Date(now).toISOString()
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true })
  } catch (error) {
    throw new ByrefError(
      'storage_failed',
      `The folder of the index of assets "${folder}" cannot be made; see the cause.`,
      { cause: error },
    )
  }
}

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
type RecordStatements = Record<keyof typeof SQL, StatementSync>

/** An index's file. */
const RECORDS_FILE: FileKind<RecordStatements> = {
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
