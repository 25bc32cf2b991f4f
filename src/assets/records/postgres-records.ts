import { checkOptions } from '../../core/check-options.ts'
import { newId } from '../../core/new-id.ts'
import { type Database, openDatabase, type Query, type Row } from '../../postgres/database.ts'
import { migrate, type Tables } from '../../postgres/migrate.ts'
import { POSTGRES_OPTIONS, type PostgresOptions } from '../../postgres/postgres-options.ts'
import { assetExists } from '../asset-record.ts'
import type { StoreQuota, StoreUsage } from '../asset-store.ts'
import { checkRoom, isWithin } from './quota.ts'
import type { NewEntry, PlacedBody, RecordEntry, RecordIndex } from './record-index.ts'

/** Options of {@link postgresRecords}. */
export type PostgresRecordsOptions = PostgresOptions

/** Behind every place of a list. */
const FIRST = '\u{10ffff}'

/**
 * Records in a PostgreSQL database, for any number of processes on any number of machines. What resolves is committed, as
 * durable as the server makes that. Those who add to one namespace wait for each other for the time of a transaction, so
 * that quotas are exact. The tables are made when the index is opened, by several processes at once too.
 *
 * @throws ByrefError `config_invalid`
 */
export function postgresRecords(options: PostgresRecordsOptions): RecordIndex {
  checkOptions('postgresRecords', options, POSTGRES_OPTIONS)
  const owner = { what: 'index of assets', failed: 'storage_failed' } as const
  const tables = recordTables()
  const database = openDatabase(options, { owner, migrate: (opened) => migrate(opened, tables) })
  const { use, query, transaction } = database
  const rowsOf = <T = Row>(text: string, values: readonly unknown[]): Promise<T[]> =>
    use(async () => (await query<T>(text, values)).rows)

  return {
    name: 'postgres',
    keepsObjects: false,

    async open() {
      const [row] = await rowsOf<{ id: string }>('SELECT id FROM byref.assets_self', [])
      return String(row?.id)
    },

    bodies: async (namespace, digests) => {
      const rows = await rowsOf<PlacedBody>(
        'SELECT digest, size, key FROM byref.assets_bodies WHERE namespace = $1 AND digest = ANY ($2)',
        [namespace ?? '', digests],
      )
      return digests.flatMap((digest) => rows.find((row) => row.digest === digest) ?? [])
    },

    add: (entry, quota) => use(() => transaction((inside) => addEntry(inside, entry, quota))),

    async get(namespace, assetId) {
      const [row] = await rowsOf(
        'SELECT record, bodies FROM byref.assets WHERE namespace = $1 AND id = $2',
        [namespace ?? '', assetId],
      )
      return row ? entryOf(row) : null
    },

    async list(namespace, { after, limit, now }) {
      const place = [after?.createdAt ?? FIRST, after?.assetId ?? FIRST]
      const rows = await rowsOf(
        `SELECT record, bodies FROM byref.assets WHERE namespace = $1 AND (created, id) < ($3, $4)
         AND (expires IS NULL OR expires > $2) ORDER BY created DESC, id DESC LIMIT $5`,
        [namespace ?? '', timeOf(now), ...place, limit + 1],
      )
      const entries = rows.slice(0, limit).map(entryOf)
      return { entries, next: rows.length > limit ? (entries.at(-1)?.record ?? null) : null }
    },

    remove: (namespace, assetId, { now, expired = false }) =>
      use(() =>
        transaction(async (inside) => {
          const space = namespace ?? ''
          // Whoever changes what a namespace holds waits here, and nowhere else.
          await inside('SELECT FROM byref.assets_spaces WHERE namespace = $1 FOR UPDATE', [space])
          const { rows } = await inside<{ bodies: string }>(
            `DELETE FROM byref.assets WHERE namespace = $1 AND id = $2
             AND (expires IS NOT NULL AND expires <= $3) = $4 RETURNING bodies`,
            [space, assetId, timeOf(now), expired],
          )
          return rows[0] ? release(inside, space, JSON.parse(rows[0].bodies)) : null
        }),
      ),

    usage: (namespace, now) =>
      use(() =>
        // One view of all of it.
        transaction(async (inside) => {
          await inside('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ')
          return usageIn(inside, namespace ?? '', { now })
        }),
      ),

    async namespaces(now) {
      const rows = await rowsOf<{ namespace: string }>(
        `SELECT namespace FROM byref.assets_spaces s WHERE EXISTS (SELECT 1 FROM byref.assets a
         WHERE a.namespace = s.namespace AND (a.expires IS NULL OR a.expires > $1))`,
        [timeOf(now)],
      )
      return rows.map(({ namespace }) => namespace || null)
    },

    async expired(now, limit) {
      const rows = await rowsOf<{ namespace: string; id: string }>(
        'SELECT namespace, id FROM byref.assets WHERE expires <= $1 ORDER BY expires LIMIT $2',
        [timeOf(now), limit],
      )
      return rows.map(({ namespace, id }) => ({ namespace: namespace || null, assetId: id }))
    },

    async held(keys) {
      const rows = await rowsOf<{ key: string }>(
        'SELECT key FROM byref.assets_bodies WHERE key = ANY ($1)',
        [keys],
      )
      return new Set(rows.map(({ key }) => key))
    },

    exclusive: (name, work) => use(() => exclusively(database, name, work)),

    close: () => database.close(),
  }
}

/** Runs what nobody else runs who has the lock of the name; it goes with the connection, and so with this process. */
async function exclusively<T>(
  { connect, schema }: Database,
  name: string,
  work: () => Promise<T>,
): Promise<T | null> {
  const { query, end } = await connect()
  try {
    const { rows } = await query('SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS mine', [
      `byref ${schema} ${name}`,
    ])
    return rows[0]?.mine === true ? await work() : null
  } finally {
    await end()
  }
}

/** Adds an entry within a transaction, or says before anything of it is written why not. */
async function addEntry(
  query: Query,
  { record, bodies }: NewEntry,
  quota: StoreQuota | undefined,
): Promise<{ unused: string[]; missing: string[] }> {
  const { assetId, createdAt, expiresAt } = record
  const space = record.namespace ?? ''
  const held = await lockSpace(query, space)
  const digests = bodies.map(({ digest }) => digest)
  const there = await query<{ digest: string; key: string } | { digest: null }>(
    `SELECT digest, key FROM byref.assets_bodies WHERE namespace = $1 AND digest = ANY ($3)
     UNION ALL SELECT NULL, NULL FROM byref.assets WHERE namespace = $1 AND id = $2`,
    [space, assetId, digests],
  )
  const keys = new Map<string, string>()
  for (const row of there.rows) {
    if (row.digest === null) throw assetExists(assetId)
    keys.set(row.digest, row.key)
  }
  const missing = bodies.filter(({ key, digest }) => key === null && !keys.has(digest))
  if (missing.length > 0) {
    await forgetEmpty(query, space)
    return { unused: [], missing: missing.map(({ digest }) => digest) }
  }
  const fresh = bodies.filter(({ digest }) => !keys.has(digest))
  const bytes = fresh.reduce((sum, { size }) => sum + size, 0)
  const most = { assets: held.assets + 1, bytes: held.bytes + bytes }
  // What is over needs no room, but counts until it is looked at.
  if (quota && !isWithin(most, quota)) {
    checkRoom(await usageIn(query, space, { now: Date.now(), more: bodies }), quota)
  }
  const placed: PlacedBody[] = bodies.map(({ digest, size, key }) => {
    return { digest, size, key: keys.get(digest) ?? String(key) }
  })
  await query(ADD, [
    ...[space, assetId, createdAt, expiresAt, JSON.stringify(record), JSON.stringify(placed)],
    ...[digests.filter((digest) => keys.has(digest)), bytes],
    ...[
      fresh.map(({ digest }) => digest),
      fresh.map(({ key }) => key),
      fresh.map(({ size }) => size),
    ],
  ])
  return {
    unused: bodies.flatMap(({ key, digest }) => (key !== null && keys.has(digest) ? [key] : [])),
    missing: [],
  }
}

const ADD = `
  WITH used AS (
    UPDATE byref.assets_bodies SET users = users + 1 WHERE namespace = $1 AND digest = ANY ($7)
  ), counted AS (
    UPDATE byref.assets_spaces SET assets = assets + 1, bytes = bytes + $8 WHERE namespace = $1
  ), put AS (
    INSERT INTO byref.assets_bodies (namespace, digest, key, size, users)
    SELECT $1, digest, key, size, 1
    FROM unnest($9::text[], $10::text[], $11::bigint[]) AS body (digest, key, size)
  ) INSERT INTO byref.assets (namespace, id, created, expires, record, bodies)
    VALUES ($1, $2, $3, $4, $5, $6)`

/** What a namespace holds, also of what is over; nobody else changes it until the transaction ends. */
async function lockSpace(query: Query, space: string): Promise<StoreUsage> {
  const { rows } = await query<StoreUsage>(
    `INSERT INTO byref.assets_spaces AS s (namespace, assets, bytes) VALUES ($1, 0, 0)
     ON CONFLICT (namespace) DO UPDATE SET assets = s.assets RETURNING assets, bytes`,
    [space],
  )
  return rows[0] ?? { assets: 0, bytes: 0 }
}

async function forgetEmpty(query: Query, space: string): Promise<void> {
  await query('DELETE FROM byref.assets_spaces WHERE namespace = $1 AND assets = 0', [space])
}

/** Gives up what a removed record held, and gives what nobody holds now. */
async function release(query: Query, space: string, bodies: PlacedBody[]): Promise<PlacedBody[]> {
  const digests = bodies.map(({ digest }) => digest)
  const { rows } = await query<{ digest: string; users: number }>(
    `UPDATE byref.assets_bodies SET users = users - 1 WHERE namespace = $1 AND digest = ANY ($2)
     RETURNING digest, users`,
    [space, digests],
  )
  const free = new Set(rows.flatMap(({ digest, users }) => (users === 0 ? digest : [])))
  const freed = bodies.filter(({ digest }) => free.has(digest))
  await query(
    `WITH gone AS (DELETE FROM byref.assets_bodies WHERE namespace = $1 AND digest = ANY ($2))
     UPDATE byref.assets_spaces SET assets = assets - 1, bytes = bytes - $3 WHERE namespace = $1`,
    [space, [...free], freed.reduce((sum, { size }) => sum + size, 0)],
  )
  await forgetEmpty(query, space)
  return freed
}

/** What the live records hold, and what `more` bodies would. */
async function usageIn(
  query: Query,
  space: string,
  { now, more = [] }: { now: number; more?: NewEntry['bodies'] },
): Promise<StoreUsage> {
  const held = await query<StoreUsage>(
    'SELECT assets, bytes FROM byref.assets_spaces WHERE namespace = $1',
    [space],
  )
  const { assets, bytes } = held.rows[0] ?? { assets: 0, bytes: 0 }
  const over = await query<{ bodies: string }>(
    'SELECT bodies FROM byref.assets WHERE namespace = $1 AND expires <= $2',
    [space, timeOf(now)],
  )
  const ending = new Map<string, { size: number; count: number }>()
  for (const { digest, size } of over.rows.flatMap(({ bodies }): PlacedBody[] =>
    JSON.parse(bodies),
  )) {
    ending.set(digest, { size, count: (ending.get(digest)?.count ?? 0) + 1 })
  }
  const digests = [...ending.keys(), ...more.map(({ digest }) => digest)]
  const used = await query<{ digest: string; users: number }>(
    'SELECT digest, users FROM byref.assets_bodies WHERE namespace = $1 AND digest = ANY ($2)',
    [space, digests],
  )
  const users = new Map(used.rows.map((row) => [row.digest, row.users]))
  let live = bytes
  for (const [digest, { size, count }] of ending) if (users.get(digest) === count) live -= size
  for (const { digest, size } of more) {
    const its = users.get(digest)
    if (its === undefined || its === ending.get(digest)?.count) live += size
  }
  return { assets: assets - over.rows.length, bytes: live }
}

function entryOf(row: Row): RecordEntry {
  return { record: JSON.parse(String(row.record)), bodies: JSON.parse(String(row.bodies)) }
}

/** As records have it: text that sorts by time. */
function timeOf(now: number): string {
  return new Date(now).toISOString()
}

/**
 * The tables of the index. A namespace '' is none. Names are compared byte by byte, as they are in every index. A record's
 * `bodies` are JSON: digest, size and key of each, its own first. `spaces` says what a namespace holds, and is what
 * those wait for who add to it or take from it at the same time.
 */
function recordTables(): Tables {
  return {
    part: 'records',
    name: 'The index of assets',
    code: 'config_invalid',
    steps: [
      [
        'CREATE TABLE byref.assets_self (id text NOT NULL)',
        `INSERT INTO byref.assets_self (id) VALUES ('${newId()}')`,
        `CREATE TABLE byref.assets (
           namespace text COLLATE "C" NOT NULL,
           id text COLLATE "C" NOT NULL,
           created text COLLATE "C" NOT NULL,
           expires text COLLATE "C",
           record text NOT NULL,
           bodies text NOT NULL,
           PRIMARY KEY (namespace, id)
         )`,
        'CREATE INDEX assets_by_age ON byref.assets (namespace, created, id)',
        'CREATE INDEX assets_by_end ON byref.assets (expires) WHERE expires IS NOT NULL',
        `CREATE INDEX assets_by_end_within ON byref.assets (namespace, expires)
           WHERE expires IS NOT NULL`,
        `CREATE TABLE byref.assets_bodies (
           namespace text COLLATE "C" NOT NULL,
           digest text COLLATE "C" NOT NULL,
           key text COLLATE "C" NOT NULL UNIQUE,
           size bigint NOT NULL,
           users integer NOT NULL,
           PRIMARY KEY (namespace, digest)
         )`,
        `CREATE TABLE byref.assets_spaces (
           namespace text COLLATE "C" PRIMARY KEY,
           assets bigint NOT NULL,
           bytes bigint NOT NULL
         )`,
      ],
    ],
  }
}
