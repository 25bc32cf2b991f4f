import { ByrefError } from '../../core/errors.ts'
import type { AssetRecord, StoreListOptions, StoreQuota, StoreUsage } from '../asset-store.ts'
import type { BodyDigest } from '../bodies/digest.ts'

/**
 * Which assets exist, and which bodies they need. An index is exact: `add` and `remove` are atomic and serialized, also
 * between processes, and durable when they resolve. `testRecordIndex` of `byref/testing` tests this contract.
 *
 * Within a namespace a digest names one body. A body is forgotten with the last asset that needs it; the store then removes
 * its bytes. Expired records stay until they are removed; readers check their time.
 *
 * Every failure is a ByrefError: `storage_full`, `config_invalid`, or `storage_failed` with its `cause`. After a
 * `storage_failed` of `add` the record may or may not be there.
 */
export interface RecordIndex {
  /** For messages, such as `sqlite`. */
  readonly name: string
  /** Whether live objects can be kept with a record. */
  readonly keepsObjects: boolean
  /** Opens or creates the index. Returns the id of the index, by which bodies know the index that they belong to. */
  open(): Promise<string>
  /** Returns the bodies of those digests that are there already. */
  bodies(namespace: string | null, digests: readonly string[]): Promise<PlacedBody[]>
  /**
   * Adds a record with its bodies. If the namespace has a body of a digest already, that one is kept and the new one is
   * `unused`. A body without a key must be there already: if it is not, nothing is added and its digest is `missing`.
   *
   * @throws ByrefError `asset_exists` for an id that is used, also by an expired record; `quota_exceeded`. The caller then
   * removes those bodies that are not {@link held}.
   */
  add(entry: NewEntry, quota?: StoreQuota): Promise<{ unused: string[]; missing: string[] }>
  /** Returns a record and its bodies; null if there is no such record. */
  get(namespace: string | null, assetId: string): Promise<RecordEntry | null>
  /**
   * Entries that have not expired at `now`, newest first, after the place `after`. `next` is the place of the last
   * entry, null at the end.
   */
  list(
    namespace: string | null,
    page: { after: RecordPlace | null; limit: number; now: number },
  ): Promise<{ entries: RecordEntry[]; next: RecordPlace | null }>
  /**
   * Removes a record that has not expired at `now`; with `expired`, one that has. Returns the bodies that no record needs any
   * more, or null if nothing was removed.
   */
  remove(
    namespace: string | null,
    assetId: string,
    when: { now: number; expired?: boolean },
  ): Promise<PlacedBody[] | null>
  /** Returns what a namespace holds: records that have not expired at `now`, and the bytes of their distinct bodies. */
  usage(namespace: string | null, now: number): Promise<StoreUsage>
  /** Namespaces that hold a record that has not expired at `now`. */
  namespaces(now: number): Promise<(string | null)[]>
  /** At most `limit` records that have expired at `now`. */
  expired(now: number, limit: number): Promise<{ namespace: string | null; assetId: string }[]>
  /** Returns the keys that belong to a body of some record. */
  held(keys: readonly string[]): Promise<Set<string>>
  /**
   * Runs `work` unless another process of the same index runs work of this name; null if one does. The lock ends with the
   * process. Absent for indexes of a single host.
   */
  exclusive?<T>(name: string, work: () => Promise<T>): Promise<T | null>
  close(): Promise<void>
}

/** The position of a record in a listing. */
export type RecordPlace = Pick<AssetRecord, 'createdAt' | 'assetId'>

/** A body in a body store. */
export interface PlacedBody extends BodyDigest {
  key: string
}

/** A record and where its bodies are, its own body first. */
export interface RecordEntry {
  record: AssetRecord
  bodies: PlacedBody[]
  objects?: readonly unknown[]
}

/** A record to be added; `key` is null for a body that is there already. */
export interface NewEntry {
  record: AssetRecord
  bodies: (BodyDigest & { key: string | null })[]
  objects?: readonly unknown[]
}

/** Returns the number of assets, each given by its bodies, and the bytes of all distinct bodies, `more` included. */
export function usageOf(
  assets: readonly (readonly BodyDigest[])[],
  more: readonly BodyDigest[] = [],
): StoreUsage {
  const sizes = new Map([...assets, more].flat().map(({ digest, size }) => [digest, size]))
  return { assets: assets.length, bytes: [...sizes.values()].reduce((sum, size) => sum + size, 0) }
}

/** Returns whether a usage is within the quota. */
export function isWithin(held: StoreUsage, quota: StoreQuota): boolean {
  return held.assets <= quota.assets && held.bytes <= quota.bytes
}

/**
 * Rejects one more asset if the quota has no room for it. `held` includes the bytes of its bodies.
 *
 * @throws ByrefError `quota_exceeded`
 */
export function checkRoom(held: StoreUsage, quota: StoreQuota): void {
  if (!isWithin({ ...held, assets: held.assets + 1 }, quota)) throw quotaExceeded(quota)
}

/** Returns the error for an asset that exceeds the quota. */
export function quotaExceeded({ assets, bytes }: StoreQuota): ByrefError {
  const most = [
    ...(assets === Infinity ? [] : [`${assets} assets (limits.quotaAssets)`]),
    ...(bytes === Infinity ? [] : [`${bytes} bytes (limits.quotaBytes)`]),
  ]
  return new ByrefError(
    'quota_exceeded',
    `The namespace is full: it may have ${most.join(' and ')}. Delete some assets first.`,
  )
}

const MAX_PAGE = 1000

/** Newest first: by time, then by id, descending. */
export function newestFirst(a: RecordPlace, b: RecordPlace): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? 1 : -1
  if (a.assetId === b.assetId) return 0
  return a.assetId < b.assetId ? 1 : -1
}

/**
 * Returns where a page begins, and its size: 200 by default, at most 1,000.
 *
 * @throws ByrefError `bad_request` for a size that is not a whole number from 1, and an invalid cursor
 */
export function pageIn({ limit = 200, cursor }: StoreListOptions): {
  after: RecordPlace | null
  limit: number
} {
  const size = Math.min(limit, MAX_PAGE)
  if (!Number.isInteger(size) || size <= 0) {
    throw new ByrefError('bad_request', `Invalid page size ${limit}: use 1 to ${MAX_PAGE}.`)
  }
  return { after: cursor ? parseCursor(cursor) : null, limit: size }
}

/** Returns one page of entries that are in memory, newest first, and the place of the last one if there are more. */
export function pageOf<Entry extends { record: AssetRecord }>(
  entries: readonly Entry[],
  { after, limit }: { after: RecordPlace | null; limit: number },
): { entries: Entry[]; next: RecordPlace | null } {
  const rest = after ? entries.filter(({ record }) => newestFirst(after, record) < 0) : [...entries]
  const page = rest.sort((a, b) => newestFirst(a.record, b.record)).slice(0, limit)
  return { entries: page, next: rest.length > limit ? (page.at(-1)?.record ?? null) : null }
}

/** Returns one page of entries that are in memory as copies of their records, with the cursor of the next page. */
export function recordPage(
  entries: readonly { record: AssetRecord }[],
  options: StoreListOptions = {},
): { records: AssetRecord[]; next: string | null } {
  const { after, limit } = pageIn(options)
  const page = pageOf(entries, { after, limit })
  const records = structuredClone(page.entries.map(({ record }) => record))
  return { records, next: page.next && formatCursor(page.next) }
}

/** Returns the cursor of the page after a place. */
export function formatCursor({ createdAt, assetId }: RecordPlace): string {
  return `${createdAt} ${assetId}`
}

/** @throws ByrefError `bad_request` for what {@link formatCursor} did not make */
function parseCursor(cursor: string): RecordPlace {
  const space = cursor.indexOf(' ')
  if (space < 1)
    throw new ByrefError(
      'bad_request',
      `Invalid cursor ${JSON.stringify(cursor)}: use the "next" of the previous page.`,
    )
  return { createdAt: cursor.slice(0, space), assetId: cursor.slice(space + 1) }
}
