import { is, type MethodTables, type OptionTable } from '../core/check-options.ts'
import type { AssetOrigin } from '../core/events/events.ts'
import type { WrittenLabel } from '../core/labels/label.ts'

/** How a body is presented to a person, by its MIME type. */
export type AssetKind = 'image' | 'audio' | 'video' | 'file'

/**
 * A body to save. A stream is consumed. Bytes belong to the caller: a store copies or writes them, but never keeps
 * them.
 */
export type AssetBody = Uint8Array | ReadableStream<Uint8Array>

/**
 * The smallest store: three methods. Any object that has them can hold assets; byref then keeps names, metas and
 * namespaces (see `withRecords`), and `body` is always a `Uint8Array`.
 */
export interface AssetStore {
  /** Keeps the bytes and returns an id that the store chose. */
  save(
    body: Uint8Array,
    mime: string,
    options?: StoreSaveOptions,
  ): Promise<{ assetId: string; info?: object | null }>
  /** Returns the whole body. Rejects for an unknown id. */
  get(assetId: string, options?: StoreOptions): Promise<{ bytes: Uint8Array; mime: string }>
  /**
   * Returns where the body can be fetched: a data URL if `inline`, else the store's own choice. Rejects for an unknown
   * id.
   */
  urlFor(assetId: string, options?: StoreUrlOptions): Promise<string>
  /** Returns what the store knows about the asset. Null or undefined for an unknown id. */
  info?(assetId: string, options?: StoreOptions): Promise<object | null | undefined>
}

/**
 * A store that keeps whole records and never needs a whole body in memory. Every implementation follows these rules,
 * which `testAssetStore` checks:
 *
 * - An asset is its record and its bodies. Every method sees it only when it is complete. It is durable, as far as the
 *   store can be, when `save` resolves. A failed save leaves nothing visible.
 * - Assets never change. An id is used once: a second `save` with it rejects with `asset_exists`, also for an expired
 *   asset until a sweep has removed it.
 * - `save` rejects malformed ids and namespaces with `invalid_reference`, malformed MIME types with `asset_invalid`.
 * - Bodies are content-addressed: within one namespace equal bytes are kept once, under any number of assets, and a
 *   body goes with the last asset that needs it.
 * - Namespaces are isolated: no id, digest or path of one is visible from another. `null` is a namespace of its own.
 * - An asset past its `expiresAt` is unknown; `sweep` removes it.
 * - Missing is `null` (`info`, `open`, `object`) or `false` (`delete`); `get` and `urlFor` reject with `asset_not_found`.
 *   A full disk is `storage_full`; any other failure of the medium is `storage_failed` with its `cause`. An error of the
 *   caller's own stream is thrown unchanged.
 */
export interface FullAssetStore extends AssetStore {
  readonly full: true
  /** The backend's name, for messages and `assetConfig`. */
  readonly backend: string
  /** Whether `StoreSaveOptions.objects` is accepted: live objects, kept by reference while the process lives. */
  readonly keepsObjects: boolean
  /** Whether a body can be read only once, by `get`, `open` or an inline `urlFor`. Reads with `keep` do not count. */
  readonly readsOnce: boolean
  /** Opens the store. Every method does this first; call it to see errors early. */
  ready(): Promise<void>
  /** Keeps a body and its record. The stream is read to its end, or cancelled if the save fails. */
  save(
    body: AssetBody,
    mime: string,
    options?: StoreSaveOptions,
  ): Promise<{ assetId: string; info: AssetRecord }>
  /** Returns the record, or null. Never reads a body. */
  info(assetId: string, options?: StoreOptions): Promise<AssetRecord | null>
  /** Returns the body, or a range of it, as a stream that opens the medium when it is read; null for an unknown id. */
  open(assetId: string, options?: StoreOpenOptions): Promise<StoreOpened | null>
  /** Returns a live object that was passed to `save`, by its index; null if the asset or the object is unknown. */
  object(assetId: string, index: number, options?: StoreOptions): Promise<{ value: unknown } | null>
  /**
   * Records, newest first (`createdAt`, then id, descending). `cursor` is the `next` of the previous page. An invalid
   * limit or cursor is a `bad_request`.
   */
  list(options?: StoreListOptions): Promise<{ records: AssetRecord[]; next: string | null }>
  /** Removes the asset, and the bodies that no other asset needs. False if there was no such asset. */
  delete(assetId: string, options?: StoreOptions): Promise<boolean>
  /**
   * Returns the usage of a namespace: the number of assets that have not expired, and the bytes of their distinct
   * bodies.
   */
  usage(options?: StoreOptions): Promise<StoreUsage>
  /** Names of the namespaces that hold an asset that has not expired; `null` is the one without a name. */
  namespaces(): Promise<(string | null)[]>
  /**
   * Removes expired assets and leftovers of crashes. Safe during any other method, in any process. Does nothing while
   * another host sweeps.
   */
  sweep(options?: StoreSweepOptions): Promise<StoreSwept>
  /** Runs `work`, unless another host is running work of this name in the store. Then returns null. */
  exclusive?<T>(name: string, work: () => Promise<T>): Promise<T | null>
  /**
   * For stores without their own records: takes the content of an `ASSET_CREATED` event, so that the asset is known
   * again after a restart. It is known only in its namespace.
   */
  remember?(asset: RememberedAsset, options?: StoreOptions): void
  /** Closes the store, which cannot be used afterwards. */
  close?(): Promise<void>
  /**
   * Reads every body and compares it with its digest. Yields one entry for each body of an asset, for each record that
   * cannot be read, and for each body that no asset has needed for a day.
   */
  verify(options?: StoreOptions & { signal?: AbortSignal }): AsyncIterable<StoreVerified>
}

/** The content of an event about an asset. */
export interface RememberedAsset {
  assetId: string
  mime: string
  size?: number
  digest?: string
  name?: string
  /** ISO 8601, in any zone; anything else is `asset_invalid`. */
  expiresAt?: string
}

/** The namespace. Absent and null mean the namespace without a name. */
export interface StoreOptions {
  namespace?: string | null
}

/** The options of a save: the content of the record. */
export interface StoreSaveOptions extends StoreOptions {
  /** Default: the store creates an id. */
  assetId?: string
  name?: string | null
  /** ISO 8601, in any zone; anything else is `asset_invalid`. Default: now. */
  createdAt?: string
  /** ISO 8601, in any zone; from then on the asset is unknown. */
  expiresAt?: string | null
  /** JSON that the caller stores with the asset: description, meta, origin. */
  attributes?: AssetAttributes
  /** More bodies that the asset needs, named by their SHA-256: the binary leaves of structured content. */
  parts?: StorePart[]
  /** Live objects that the asset needs; rejected unless the store `keepsObjects`. */
  objects?: readonly unknown[]
  /** Whether nobody writes to the bytes again, so that a store may keep them without a copy. */
  owned?: boolean
  /**
   * Maximum that the namespace may hold together with this asset; more is rejected with `quota_exceeded`. Exact if the
   * store's index is exact.
   */
  quota?: StoreQuota
  /** Aborts the save, also while its stream is silent. */
  signal?: AbortSignal
}

/** A further body of an asset. `digest` names it within the asset and must match its bytes. */
export interface StorePart {
  digest: string
  bytes: Uint8Array
}

/** JSON next to the body, opaque to stores. */
export interface AssetAttributes {
  asset_type?: string
  description?: string
  /** As in an asset: a MIME type, or a type string such as `<class 'dict'>`. Default: `mime`. */
  content_type?: string
  /** Whether the body is the encoding of structured content. */
  structured?: boolean
  /** The asset's meta, made when it was saved. */
  meta?: unknown
  /** The ids of the assets that the content refers to. A sweep keeps them as long as this asset. */
  references?: string[]
  /** The id of the version that this one was made from. */
  previous?: string
  /** The id of the first version. All versions have it, so that they can be found even if some were deleted. */
  firstVersion?: string
  by?: string
  tool?: string
  toolCallId?: string
  origin?: string
  /** Present if the asset was made with trust on (docs/reference/trust.md). */
  label?: WrittenLabel
  [key: string]: unknown
}

/** Everything that a store knows about an asset: plain JSON with a `version`. Unknown keys are kept. */
export interface AssetRecord {
  version: 1
  assetId: string
  /** Null without namespaces. */
  namespace: string | null
  mime: string
  kind: AssetKind
  /** The size of the body in bytes. The body is JSON for structured content, and Parquet for a table. */
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

/** The description of an asset. Reading it does not read the body. */
export interface AssetInfo extends Omit<AssetRecord, 'version' | 'attributes' | 'parts'> {
  /** The full reference, `asset://…`. */
  ref: string
  description: string | null
  /** Whether it is structured content, with fields that references can name. */
  structured: boolean
  /** The size of a table, and the reference of its original file. Null for other assets. */
  table: { rows: number; columns: number; source: string | null } | null
  /** The reference of the version that `edit` made it from. Absent for an asset that was not edited. */
  previous?: string
  /** Who made it: a `tool`, the `agent` (its model), a `user`, or the `system` (the app). */
  by?: AssetOrigin
  /** The tool that made it, and its call. */
  tool?: string
  toolCallId?: string
  /** The label of its content, if it was made with trust on (docs/reference/trust.md). */
  label?: WrittenLabel
}

/** The maker of an asset, for its event. */
export interface AssetMaker {
  /** Default: `system`. */
  by?: AssetOrigin
  tool?: string
  toolCallId?: string
  /** JSON Pointer into the result that held the asset. */
  origin?: string
}

/** A range of bytes: `start` inclusive, `end` exclusive; a negative `start` counts from the end. */
export interface StoreOpenOptions extends StoreOptions {
  start?: number
  end?: number
  /** The digest of a part, to open that part instead of the body. */
  part?: string
  /** A read by byref itself. It does not use up the one read of stores that give bodies once. */
  keep?: boolean
  /** Aborts the stream, also while the medium is silent. */
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
  /** Lifetime of a signed URL in seconds; ignored by stores without such URLs. */
  expiresIn?: number
}

/** A page of {@link FullAssetStore.list}: at most 1,000 records. Default: 200. */
export interface StoreListOptions extends StoreOptions {
  limit?: number
  cursor?: string | null
}

/** The limits of a namespace; `Infinity` means no limit. */
export interface StoreQuota {
  assets: number
  bytes: number
}

/** The usage of a namespace. */
export interface StoreUsage {
  assets: number
  bytes: number
}

/** Options of {@link FullAssetStore.sweep}. */
export interface StoreSweepOptions {
  /** Age in milliseconds from which leftovers of other writers are removed. Default and minimum: 24 hours. */
  graceMs?: number
  /** Milliseconds since 1970. */
  now?: number
  signal?: AbortSignal
}

/** The result of a sweep. */
export interface StoreSwept {
  assets: number
  bodies: number
  bytes: number
  leftovers: number
}

/**
 * One result of {@link FullAssetStore.verify}: `problem` is null or what is wrong. `assetId` is null for a body without
 * an asset.
 */
export interface StoreVerified {
  namespace: string | null
  assetId: string | null
  digest: string | null
  size: number
  problem: null | 'body_missing' | 'body_damaged' | 'body_unused'
  /** The path of an unused body, or its key in a bucket. */
  path?: string
}

/** A store of byref, or an object with the three methods of one. */
export const STORE = is.having<AssetStore>(
  'a store with save, get and urlFor',
  'save',
  'get',
  'urlFor',
)

export const NAMESPACE: OptionTable<StoreOptions> = { namespace: is.nullable(is.string) }
export const RANGE = is.all(is.number, 'start', 'end')
const QUOTA: OptionTable<StoreQuota> = is.all(is.required(is.wholeNumber), 'assets', 'bytes')

/** The options of the methods that a store and assets have in common. */
export const SAME_METHODS = {
  urlFor: { 1: { ...NAMESPACE, inline: is.boolean, expiresIn: is.number } },
  list: { 0: { ...NAMESPACE, limit: is.number, cursor: is.nullable(is.string) } },
  usage: { 0: NAMESPACE },
  remember: { 1: NAMESPACE, throws: true },
  verify: { 0: { ...NAMESPACE, signal: is.signal }, throws: true },
} as const

/** The options of a store's methods, checked by every store of byref. */
export const STORE_METHODS: MethodTables<FullAssetStore> = {
  ...SAME_METHODS,
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
  open: {
    1: { ...NAMESPACE, ...RANGE, part: is.string, keep: is.boolean, signal: is.signal },
  },
  object: { 2: NAMESPACE },
  ...is.all({ 1: NAMESPACE }, 'get', 'info', 'delete'),
  sweep: { 0: { graceMs: is.notNegative, now: is.number, signal: is.signal } },
}

/** Returns whether the store keeps records itself. */
export function isFullStore(store: AssetStore): store is FullAssetStore {
  return 'full' in store && store.full === true
}
