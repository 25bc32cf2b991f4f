import { ByrefError } from '../../core/errors.ts'
import { assetExists } from '../asset-record.ts'
import type { StoreQuota, StoreUsage } from '../asset-store.ts'
import {
  checkRoom,
  isWithin,
  type NewEntry,
  type PlacedBody,
  type RecordEntry,
  type RecordIndex,
} from './record-index.ts'

/** A row by its columns. Whole numbers are numbers; everything else is text or null. */
type Row = Record<string, unknown>

/**
 * A statement of the index. `byref.` stands for the schema, `$1` for the first value. Several texts share the values and
 * run in any order: none reads what another writes.
 */
export interface Statement {
  text: string | readonly string[]
  values: readonly unknown[]
}

/** Work on the database: yields statements and receives the rows of each. Databases run it with or without `await`. */
export type SqlWork<T> = Generator<Statement, T, Row[]>

/** What differs between databases. */
export interface RecordsDialect {
  name: string
  /** Runs one or more statements. */
  read<T>(work: () => SqlWork<T>): Promise<T>
  /** Runs statements that see one state of the database. */
  snapshot<T>(work: () => SqlWork<T>): Promise<T>
  /** Runs a transaction. Work that throws has written nothing. */
  write<T>(work: () => SqlWork<T>): Promise<T>
  /** SQL that is true if a column is among the texts of a JSON list. */
  among(column: string, list: string): string
  /** SQL for rows of `digest`, `key` and `size` from a JSON list of objects. */
  bodiesIn(list: string): string
  /** Selects `assets` and `bytes` of a namespace, which nobody else then changes until the transaction ends. */
  lock: string
  exclusive?: RecordIndex['exclusive']
  close(): Promise<void>
}

/** Sorts after every time and every id. */
const FIRST = '\u{10ffff}'

const IS_LIVE = '(expires IS NULL OR expires > $2)'

/** Creates a {@link RecordIndex} in a SQL database, with the tables that {@link RecordsDialect} stands for. */
export function sqlRecords(dialect: RecordsDialect): RecordIndex {
  const { name, read, write, among } = dialect
  return {
    name,
    keepsObjects: false,

    open: () =>
      read(function* () {
        const [row] = yield* rowsOf('SELECT id FROM byref.assets_self', [])
        return String(row?.id)
      }),

    bodies: (namespace, digests) =>
      read(function* () {
        const rows = yield* bodyRows(dialect, namespace ?? '', digests)
        return digests.flatMap((digest) => {
          const row = rows.find((one) => one.digest === digest)
          return row ? { digest, size: row.size, key: row.key } : []
        })
      }),

    add: (entry, quota) => write(() => addEntry(dialect, entry, quota)),

    get: (namespace, assetId) =>
      read(function* () {
        const text = `SELECT ${ENTRY} FROM byref.assets WHERE namespace = $1 AND id = $2`
        const [row] = yield* rowsOf(text, [namespace ?? '', assetId])
        return row ? entryOf(row) : null
      }),

    list: (namespace, { after, limit, now }) =>
      read(function* () {
        const place = [after?.createdAt ?? FIRST, after?.assetId ?? FIRST]
        const rows = yield* rowsOf(
          `SELECT ${ENTRY} FROM byref.assets WHERE namespace = $1 AND (created, id) < ($3, $4)
           AND ${IS_LIVE} ORDER BY created DESC, id DESC LIMIT $5`,
          [namespace ?? '', timeOf(now), ...place, limit + 1],
        )
        const entries = rows.slice(0, limit).map(entryOf)
        return { entries, next: rows.length > limit ? (entries.at(-1)?.record ?? null) : null }
      }),

    remove: (namespace, assetId, { now, expired = false }) =>
      write(() => removeEntry(dialect, [namespace ?? '', assetId, timeOf(now), expired ? 1 : 0])),

    usage: (namespace, now) => dialect.snapshot(() => usageIn(dialect, namespace ?? '', { now })),

    namespaces: (now) =>
      read(function* () {
        const rows = yield* rowsOf<{ namespace: string }>(
          `SELECT namespace FROM byref.assets_spaces s WHERE EXISTS (SELECT 1 FROM byref.assets a
           WHERE a.namespace = s.namespace AND (a.expires IS NULL OR a.expires > $1))`,
          [timeOf(now)],
        )
        return rows.map(({ namespace }) => namespace || null)
      }),

    expired: (now, limit) =>
      read(function* () {
        const rows = yield* rowsOf<{ namespace: string; id: string }>(
          'SELECT namespace, id FROM byref.assets WHERE expires <= $1 ORDER BY expires LIMIT $2',
          [timeOf(now), limit],
        )
        return rows.map(({ namespace, id }) => ({ namespace: namespace || null, assetId: id }))
      }),

    held: (keys) =>
      read(function* () {
        const text = `SELECT key FROM byref.assets_bodies WHERE ${among('key', '$1')}`
        const rows = yield* rowsOf<{ key: string }>(text, [JSON.stringify(keys)])
        return new Set(rows.map(({ key }) => key))
      }),

    ...(dialect.exclusive && { exclusive: dialect.exclusive }),
    close: dialect.close,
  }
}

/** Adds an entry, or says before it writes anything why it cannot. */
function* addEntry(
  dialect: RecordsDialect,
  { record, bodies }: NewEntry,
  quota: StoreQuota | undefined,
): SqlWork<{ unused: string[]; missing: string[] }> {
  const { assetId, createdAt, expiresAt } = record
  const space = record.namespace ?? ''
  const held = yield* usageRow(dialect.lock, space)
  const digests = JSON.stringify(bodies.map(({ digest }) => digest))
  const there = yield* rowsOf<{ digest: string | null; key: string }>(
    `SELECT digest, key FROM byref.assets_bodies WHERE namespace = $1 AND ${dialect.among('digest', '$3')}
     UNION ALL SELECT NULL, NULL FROM byref.assets WHERE namespace = $1 AND id = $2`,
    [space, assetId, digests],
  )
  if (there.some(({ digest }) => digest === null)) throw assetExists(assetId)
  const keys = new Map(there.map(({ digest, key }) => [digest, key]))
  const missing = bodies.filter(({ key, digest }) => key === null && !keys.has(digest))
  if (missing.length > 0) {
    yield { text: FORGET_EMPTY, values: [space] }
    return { unused: [], missing: missing.map(({ digest }) => digest) }
  }
  const fresh = bodies.filter(({ digest }) => !keys.has(digest))
  const bytes = fresh.reduce((sum, { size }) => sum + size, 0)
  const most = { assets: held.assets + 1, bytes: held.bytes + bytes }
  // Expired assets need no room, but the counters still include them.
  if (quota && !isWithin(most, quota)) {
    checkRoom(yield* usageIn(dialect, space, { now: Date.now(), more: bodies }), quota)
  }
  const placed = bodies.map(({ digest, size, key }): PlacedBody => {
    return { digest, size, key: keys.get(digest) ?? String(key) }
  })
  // A new body may carry its bytes, which are not for the index.
  const rows = fresh.map(({ digest, size, key }) => ({ digest, size, key }))
  const texts = textsOf({ record, bodies: placed })
  const used = JSON.stringify([...keys.keys()])
  yield {
    text: [
      `UPDATE byref.assets_bodies SET users = users + 1
       WHERE namespace = $1 AND ${dialect.among('digest', '$7')}`,
      `INSERT INTO byref.assets_spaces AS s (namespace, assets, bytes) VALUES ($1, 1, $8)
       ON CONFLICT (namespace) DO UPDATE SET assets = s.assets + 1, bytes = s.bytes + excluded.bytes`,
      `INSERT INTO byref.assets_bodies (namespace, digest, key, size, users)
       SELECT $1, digest, key, size, 1 FROM ${dialect.bodiesIn('$9')}`,
      `INSERT INTO byref.assets (namespace, id, created, expires, record, bodies)
       VALUES ($1, $2, $3, $4, $5, $6)`,
    ],
    values: [space, assetId, createdAt, expiresAt, ...texts, used, bytes, JSON.stringify(rows)],
  }
  const unused = bodies.flatMap(({ key, digest }) => (key !== null && keys.has(digest) ? key : []))
  return { unused, missing: [] }
}

const FORGET_EMPTY = 'DELETE FROM byref.assets_spaces WHERE namespace = $1 AND assets = 0'

/** Removes a record; returns the bodies that no record needs any more, or null if there was no such record. */
function* removeEntry(
  { lock, among }: RecordsDialect,
  values: [space: string, assetId: string, now: string, expired: 0 | 1],
): SqlWork<PlacedBody[] | null> {
  const [space] = values
  yield* usageRow(lock, space)
  const [row] = yield* rowsOf<{ bodies: string }>(
    `DELETE FROM byref.assets WHERE namespace = $1 AND id = $2
     AND (expires IS NOT NULL AND expires <= $3) = ($4 = 1) RETURNING bodies`,
    values,
  )
  if (!row) {
    yield { text: FORGET_EMPTY, values: [space] }
    return null
  }
  const bodies = bodiesIn(row.bodies)
  const released = yield* rowsOf<{ digest: string; users: number }>(
    `UPDATE byref.assets_bodies SET users = users - 1 WHERE namespace = $1 AND ${among('digest', '$2')}
     RETURNING digest, users`,
    [space, JSON.stringify(bodies.map(({ digest }) => digest))],
  )
  const free = new Set(released.flatMap(({ digest, users }) => (users === 0 ? digest : [])))
  const freed = bodies.filter(({ digest }) => free.has(digest))
  yield {
    text: [
      `DELETE FROM byref.assets_bodies WHERE namespace = $1 AND ${among('digest', '$2')}`,
      'UPDATE byref.assets_spaces SET assets = assets - 1, bytes = bytes - $3 WHERE namespace = $1',
    ],
    values: [space, JSON.stringify([...free]), freed.reduce((sum, { size }) => sum + size, 0)],
  }
  yield { text: FORGET_EMPTY, values: [space] }
  return freed
}

/** Returns what the live records hold together with `more` bodies. */
function* usageIn(
  dialect: RecordsDialect,
  space: string,
  { now, more = [] }: { now: number; more?: NewEntry['bodies'] },
): SqlWork<StoreUsage> {
  const { assets, bytes } = yield* usageRow(
    'SELECT assets, bytes FROM byref.assets_spaces WHERE namespace = $1',
    space,
  )
  const over = yield* rowsOf<{ bodies: string }>(
    'SELECT bodies FROM byref.assets WHERE namespace = $1 AND expires <= $2',
    [space, timeOf(now)],
  )
  const ending = new Map<string, { size: number; count: number }>()
  for (const { digest, size } of over.flatMap((row) => bodiesIn(row.bodies))) {
    ending.set(digest, { size, count: (ending.get(digest)?.count ?? 0) + 1 })
  }
  const digests = [...ending.keys(), ...more.map(({ digest }) => digest)]
  const used = yield* bodyRows(dialect, space, digests)
  const users = new Map(used.map((row) => [row.digest, row.users]))
  let live = bytes
  for (const [digest, { size, count }] of ending) if (users.get(digest) === count) live -= size
  for (const { digest, size } of more) {
    const total = users.get(digest)
    if (total === undefined || total === ending.get(digest)?.count) live += size
  }
  return { assets: assets - over.length, bytes: live }
}

/** Returns the bodies of a namespace with these digests, and how many records need each. */
function bodyRows({ among }: RecordsDialect, space: string, digests: readonly string[]) {
  const text = `SELECT digest, size, key, users FROM byref.assets_bodies WHERE namespace = $1 AND ${among('digest', '$2')}`
  return rowsOf<PlacedBody & { users: number }>(text, [space, JSON.stringify(digests)])
}

function* usageRow(text: string, space: string): SqlWork<StoreUsage> {
  const [row] = yield* rowsOf<StoreUsage>(text, [space])
  return row ?? { assets: 0, bytes: 0 }
}

function* rowsOf<T = Row>(text: string, values: readonly unknown[]): SqlWork<T[]> {
  return (yield { text, values }) as T[]
}

/** The columns of an entry. */
const ENTRY = 'namespace, id, created, expires, record, bodies'

/** Returns the texts of `record` and `bodies`. They do not repeat each other, nor other columns. */
function textsOf({ record, bodies }: RecordEntry): [record: string, bodies: string] {
  const { assetId, namespace, createdAt, expiresAt, digest, size, ...rest } = record
  return [
    JSON.stringify(rest),
    JSON.stringify(bodies.map((one) => [one.key, one.digest, one.size])),
  ]
}

/** @throws ByrefError `storage_failed` if the database has changed the texts of the entry */
function entryOf(row: Row): RecordEntry {
  try {
    const bodies = bodiesIn(String(row.bodies))
    const { digest, size } = bodies[0] ?? {}
    const { id: assetId, created: createdAt, expires: expiresAt } = row
    const own = { assetId, namespace: row.namespace || null, digest, size, createdAt, expiresAt }
    return { record: { ...JSON.parse(String(row.record)), ...own }, bodies }
  } catch (cause) {
    const message = `The record of asset ${JSON.stringify(row.id)} is damaged: restore the index of assets from a backup, or run "byref assets rebuild"`
    throw new ByrefError('storage_failed', message, { cause })
  }
}

function bodiesIn(text: string): PlacedBody[] {
  const bodies: [key: string, digest: string, size: number][] = JSON.parse(text)
  return bodies.map(([key, digest, size]) => ({ digest, size, key }))
}

/** Times as records have them: text that sorts by time. */
function timeOf(now: number): string {
  return new Date(now).toISOString()
}
