import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { checkOptions, is } from '../../check-options.ts'
import { ByrefError } from '../../errors.ts'
import { type Connection, connect } from '../../sqlite/connection.ts'
import { assetExists } from '../asset-record.ts'
import type { StoreQuota, StoreUsage } from '../asset-store.ts'
import { checkRoom, isWithin } from './quota.ts'
import type { NewEntry, PlacedBody, RecordEntry, RecordIndex } from './record-index.ts'
import { RECORDS_FILE, type RecordStatements } from './sqlite-tables.ts'

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
