import type { AssetRecord, StoreQuota, StoreUsage } from '../asset-store.ts'
import type { RecordPlace } from './record-page.ts'

/**
 * Which assets there are, and which bodies they need. An index is exact: each of `add` and `remove` happens whole or not
 * at all, one after the other, whoever else uses the same index, and is durable when it resolves. `testRecordIndex` of
 * `byref/testing` is this contract as tests.
 *
 * Within a namespace a digest names one body. A body is forgotten with the last asset that needs it; its bytes are the
 * store's to remove. Records whose time is over stay until they are removed; whoever reads looks at their time.
 *
 * Whatever fails is a ByrefError: `storage_full`, `config_invalid`, or `storage_failed` with its `cause`. After a
 * `storage_failed` of `add` nobody knows whether the record is there.
 */
export interface RecordIndex {
  /** For messages, such as `sqlite`. */
  readonly name: string
  /** Whether live objects can be kept beside a record. */
  readonly keepsObjects: boolean
  /** Opens the index, made if it is not there. Gives its own id, another for every index: bodies know by it whose they are. */
  open(): Promise<string>
  /** Those of the digests whose bodies are there already. */
  bodies(namespace: string | null, digests: readonly string[]): Promise<PlacedBody[]>
  /**
   * Adds a record with its bodies. Where the namespace has a body of a digest, that one is kept and the new one is
   * `unused`. A body without a key counts on being there: where one is not, nothing is added and its digest is `missing`.
   *
   * @throws ByrefError `asset_exists` for an id that is used, also by a record whose time is over; `quota_exceeded`. Of the
   * refused bodies those go that are not {@link held}.
   */
  add(entry: NewEntry, quota?: StoreQuota): Promise<{ unused: string[]; missing: string[] }>
  /** A record and its bodies; null if there is none. */
  get(namespace: string | null, assetId: string): Promise<RecordEntry | null>
  /** Entries whose time is not over at `now`, newest first, behind the place `after`; `next` is the place of the last, null at the end. */
  list(
    namespace: string | null,
    page: { after: RecordPlace | null; limit: number; now: number },
  ): Promise<{ entries: RecordEntry[]; next: RecordPlace | null }>
  /**
   * Removes a record, if its time is not over at `now`; with `expired`, if it is. Gives the bodies that no record needs any
   * more, or null where nothing was removed.
   */
  remove(
    namespace: string | null,
    assetId: string,
    when: { now: number; expired?: boolean },
  ): Promise<PlacedBody[] | null>
  /** What a namespace holds: records whose time is not over at `now`, and the bytes of their distinct bodies. */
  usage(namespace: string | null, now: number): Promise<StoreUsage>
  /** Namespaces that hold a record whose time is not over at `now`. */
  namespaces(now: number): Promise<(string | null)[]>
  /** At most `limit` records whose time is over at `now`. */
  expired(now: number, limit: number): Promise<{ namespace: string | null; assetId: string }[]>
  /** Those of the keys that a body of some record has. */
  held(keys: readonly string[]): Promise<Set<string>>
  /**
   * Runs `work` while no other process of the same index does work of this name; gives null, and does nothing, where one
   * does. Whoever dies in it is in nobody's way. Absent where there are no other hosts.
   */
  exclusive?<T>(name: string, work: () => Promise<T>): Promise<T | null>
  close(): Promise<void>
}

/** A body that lies in a body store. */
export interface PlacedBody {
  digest: string
  size: number
  key: string
}

/** A record and where its bodies lie, its own first. */
export interface RecordEntry {
  record: AssetRecord
  bodies: PlacedBody[]
  objects?: readonly unknown[]
}

/** A record to be added; `key` is null for a body that is there already. */
export interface NewEntry {
  record: AssetRecord
  bodies: { digest: string; size: number; key: string | null }[]
  objects?: readonly unknown[]
}
