import { is, type MethodTables, type OptionTable } from '../core/check-options.ts'
import type { WrittenLabel } from '../core/labels/label.ts'

/** What a body is to a person: decided by its MIME type. */
export type AssetKind = 'image' | 'audio' | 'video' | 'file'

/** What a store takes as a body. A stream is consumed; bytes are the caller's and are copied or written, never kept. */
export type AssetBody = Uint8Array | ReadableStream<Uint8Array>

/**
 * The smallest store: three methods. Any object that has them can hold assets; names, metas and
 * namespaces are then kept by byref (see `withRecords`). `body` is then always a `Uint8Array`.
 */
export interface AssetStore {
  /** Keeps the bytes and gives back an id that the store chose. */
  save(
    body: Uint8Array,
    mime: string,
    options?: StoreSaveOptions,
  ): Promise<{ assetId: string; info?: object | null }>
  /** The whole body. Rejects for an unknown id. */
  get(assetId: string, options?: StoreOptions): Promise<{ bytes: Uint8Array; mime: string }>
  /** Where the body can be fetched: a data URL if `inline`, else the store's own choice. Rejects for an unknown id. */
  urlFor(assetId: string, options?: StoreUrlOptions): Promise<string>
  /** What is known of the asset; null or undefined for an unknown id. */
  info?(assetId: string, options?: StoreOptions): Promise<object | null | undefined>
}

/**
 * A store that keeps whole records and never needs a whole body in memory. Rules that every implementation follows and
 * `testAssetStore` checks:
 *
 * - An asset is its record and its bodies. It is visible, in every method, only when all of it is there, and it is
 *   durable (as far as the store can be) when `save` resolves. A failed save leaves nothing visible.
 * - Assets never change. An id is used once: a second `save` with it rejects with `asset_exists`, also when the asset's
 *   time is over, until a sweep has freed it.
 * - `save` rejects malformed ids and namespaces with `invalid_reference`, malformed MIME types with `asset_invalid`.
 * - Bodies are content-addressed: within one namespace equal bytes are kept once, under any number of assets, and a
 *   body goes with the last asset that needs it.
 * - A namespace is a wall: no id, digest or path of one is found from another. `null` is a namespace of its own.
 * - An asset past its `expiresAt` is unknown from that moment; `sweep` frees it.
 * - Missing is `null` (`info`, `open`, `object`) or `false` (`delete`); `get` and `urlFor` reject with `asset_not_found`.
 *   A full disk is `storage_full`; everything else that the medium refuses is `storage_failed` with its `cause`. What
 *   the caller's own stream failed with is thrown as it is.
 */
export interface FullAssetStore extends AssetStore {
  readonly full: true
  /** The backend's name, for messages and `assetConfig`. */
  readonly backend: string
  /** Whether `StoreSaveOptions.objects` is accepted: live objects, kept by reference as long as the process lives. */
  readonly keepsObjects: boolean
  /** Whether a body can be read once only, by `get`, `open` or an inline `urlFor`; reads that `keep` do not count. */
  readonly readsOnce: boolean
  /** Opens the store: folders, connections, leftovers of a crash. Every method does this first; call it to fail early. */
  ready(): Promise<void>
  /** Keeps a body and the record that names it. The stream is read to its end, or cancelled when the save fails. */
  save(
    body: AssetBody,
    mime: string,
    options?: StoreSaveOptions,
  ): Promise<{ assetId: string; info: AssetRecord }>
  /** The record, or null. Never reads a body. */
  info(assetId: string, options?: StoreOptions): Promise<AssetRecord | null>
  /** The body, or part of it, as a stream that touches the medium only when it is read; null for an unknown id. */
  open(assetId: string, options?: StoreOpenOptions): Promise<StoreOpened | null>
  /** A live object that `save` was given, by its index; null where the asset or the object is unknown. */
  object(assetId: string, index: number, options?: StoreOptions): Promise<{ value: unknown } | null>
  /**
   * Records, newest first (`createdAt`, then id, descending). `cursor` is the `next` of the page before. A limit or a
   * cursor that is none is a `bad_request`.
   */
  list(options?: StoreListOptions): Promise<{ records: AssetRecord[]; next: string | null }>
  /** Removes the asset, and the bodies that nothing else needs; false if there was none. */
  delete(assetId: string, options?: StoreOptions): Promise<boolean>
  /** What a namespace holds: assets whose time is not over, and the bytes of their distinct bodies. */
  usage(options?: StoreOptions): Promise<StoreUsage>
  /** Names of the namespaces that hold an asset whose time is not over; `null` is the one without a name. */
  namespaces(): Promise<(string | null)[]>
  /**
   * Frees expired assets and what crashes left. Safe beside any other method, in any process; frees nothing where another host
   * does it just now.
   */
  sweep(options?: StoreSweepOptions): Promise<StoreSwept>
  /** Runs `work` while no other host does work of this name in the store; null where one does. */
  exclusive?<T>(name: string, work: () => Promise<T>): Promise<T | null>
  /**
   * Stores without records of their own: what an `ASSET_CREATED` event said, so that the asset is known again after a
   * restart, in its namespace and in no other.
   */
  remember?(asset: RememberedAsset, options?: StoreOptions): void
  /** Ends what the store has open; nothing can be asked of it afterwards. */
  close?(): Promise<void>
  /**
   * Reads every body again and compares it with its digest. Yields one entry for each body of an asset, for each record
   * that cannot be read, and for each body that nobody has needed for a day.
   */
  verify(options?: StoreOptions & { signal?: AbortSignal }): AsyncIterable<StoreVerified>
}

/** What an event told of an asset. */
export interface RememberedAsset {
  assetId: string
  mime: string
  size?: number
  digest?: string
  name?: string
  /** ISO 8601, in any zone; anything else is `asset_invalid`. */
  expiresAt?: string
}

/** Which namespace; absent and null are the one without a name. */
export interface StoreOptions {
  namespace?: string | null
}

/** What a record says beside the body. All of it is optional. */
export interface StoreSaveOptions extends StoreOptions {
  /** Taken as given; absent, the store makes one. */
  assetId?: string
  name?: string | null
  /** ISO 8601, in any zone; anything else is `asset_invalid`. Default: now. */
  createdAt?: string
  /** ISO 8601, in any zone; from then on the asset is unknown. */
  expiresAt?: string | null
  /** JSON that the layer above keeps with the asset: description, meta, who made it. */
  attributes?: AssetAttributes
  /** Further bodies that the asset needs, named by their SHA-256: binary leaves of structured content. */
  parts?: StorePart[]
  /** Live objects that the asset needs; refused unless the store `keepsObjects`. */
  objects?: readonly unknown[]
  /** The bytes are given away: nobody writes to them again, so that a store may keep them without a copy. */
  owned?: boolean
  /**
   * What the namespace may hold with this asset; more is refused with `quota_exceeded`, exactly, where the store's index
   * is exact.
   */
  quota?: StoreQuota
  /** Ends the save, also while its stream is silent. */
  signal?: AbortSignal
}

/** A further body of an asset. `digest` is what names it within the asset; bytes of another are `asset_invalid`. */
export interface StorePart {
  digest: string
  bytes: Uint8Array
}

/** JSON beside the body, opaque to stores. */
export interface AssetAttributes {
  asset_type?: string
  description?: string
  /** As in an asset: a MIME type, or a type string such as `<class 'dict'>`. Absent, it is `mime`. */
  content_type?: string
  /** Whether the body is the encoding of structured content. */
  structured?: boolean
  /** The asset's meta, made when it was saved. */
  meta?: unknown
  /** Ids of the assets that this one's content refers to: they live as long as it does. */
  references?: string[]
  by?: string
  tool?: string
  toolCallId?: string
  origin?: string
  /** Where it was made with trust on (docs/trust.md). */
  label?: WrittenLabel
  [key: string]: unknown
}

/** Everything that a store knows of an asset. Plain JSON, stored with `version`; unknown keys survive. */
export interface AssetRecord {
  version: 1
  assetId: string
  /** Null where there are no namespaces. */
  namespace: string | null
  mime: string
  kind: AssetKind
  /** Bytes of the body: of structured content its JSON, of a table its Parquet. */
  size: number
  /** SHA-256 of the body, lower-case hex. */
  digest: string
  name: string | null
  /** ISO 8601 in UTC. */
  createdAt: string
  expiresAt: string | null
  attributes: AssetAttributes
  parts: { digest: string; size: number }[]
}

/** Which bytes: `start` inclusive, `end` exclusive; negative `start` counts from the end. */
export interface StoreOpenOptions extends StoreOptions {
  start?: number
  end?: number
  /** The digest of a part instead of the body. */
  part?: string
  /** A read of byref's own: it does not count where bodies can be read once only. */
  keep?: boolean
  /** Ends the stream, also while the medium is silent. */
  signal?: AbortSignal
}

/** An open body: bytes `start` (inclusive) to `end` (exclusive) of `record.size`. */
export interface StoreOpened {
  record: AssetRecord
  start: number
  end: number
  stream: ReadableStream<Uint8Array>
}

/** Options of `urlFor`. */
export interface StoreUrlOptions extends StoreOptions {
  /** Always a data URL. */
  inline?: boolean
  /** Seconds that a signed URL lives; stores without such URLs ignore it. */
  expiresIn?: number
}

/** A page of {@link FullAssetStore.list}; at most 1,000 records, 200 unless told. */
export interface StoreListOptions extends StoreOptions {
  limit?: number
  cursor?: string | null
}

/** What a namespace may hold; `Infinity` where there is no limit. */
export interface StoreQuota {
  assets: number
  bytes: number
}

/** What a namespace holds. */
export interface StoreUsage {
  assets: number
  bytes: number
}

/** Options of {@link FullAssetStore.sweep}. */
export interface StoreSweepOptions {
  /** Leftovers of a writer that cannot be asked whether it lives are kept this long. Default, and least: 24 hours. */
  graceMs?: number
  /** Milliseconds since 1970. */
  now?: number
  signal?: AbortSignal
}

/** What a sweep freed. */
export interface StoreSwept {
  assets: number
  bodies: number
  bytes: number
  leftovers: number
}

/**
 * One finding of {@link FullAssetStore.verify}: `problem` is null, or what is wrong. `assetId` is null for a body without
 * an asset.
 */
export interface StoreVerified {
  namespace: string | null
  assetId: string | null
  digest: string | null
  size: number
  problem: null | 'body_missing' | 'body_damaged' | 'body_unused'
  /** Where an unused body is: a path, or a key in a bucket. */
  path?: string
}

/** A store of byref, or an object with the three methods of one. */
export const STORE = is.having<AssetStore>(
  'a store with save, get and urlFor',
  'save',
  'get',
  'urlFor',
)

const NAMESPACE: OptionTable<StoreOptions> = { namespace: is.nullable(is.string) }
export const RANGE = is.all(is.number, 'start', 'end')
const QUOTA: OptionTable<StoreQuota> = is.all(is.required(is.wholeNumber), 'assets', 'bytes')

/** The options of a store's methods, checked by every store of byref. What is malformed has an error of its own. */
export const STORE_METHODS: MethodTables<FullAssetStore> = {
  save: {
    2: {
      ...NAMESPACE,
      ...is.all(is.string, 'assetId', 'createdAt'),
      ...is.all(is.nullable(is.string), 'name', 'expiresAt'),
      ...is.all(is.anything, 'attributes', 'parts', 'objects'),
      owned: is.boolean,
      quota: is.group(QUOTA),
      signal: is.signal,
    },
  },
  urlFor: { 1: { ...NAMESPACE, inline: is.boolean, expiresIn: is.number } },
  open: {
    1: { ...NAMESPACE, ...RANGE, part: is.string, keep: is.boolean, signal: is.signal },
  },
  object: { 2: NAMESPACE },
  list: { 0: { ...NAMESPACE, limit: is.number, cursor: is.nullable(is.string) } },
  ...is.all({ 1: NAMESPACE }, 'get', 'info', 'delete'),
  usage: { 0: NAMESPACE },
  sweep: { 0: { graceMs: is.notNegative, now: is.number, signal: is.signal } },
  remember: { 1: NAMESPACE, throws: true },
  verify: { 0: { ...NAMESPACE, signal: is.signal }, throws: true },
}

/** Whether the store keeps records itself. */
export function isFullStore(store: AssetStore): store is FullAssetStore {
  return 'full' in store && store.full === true
}
