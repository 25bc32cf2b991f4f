import type { AssetMeta } from '../content/asset.ts'
import type { AssetCreated, AssetOrigin } from '../content/events.ts'
import { type AssetEvent, createAssetPayloads } from './asset-events.ts'
import { type AssetRefInput, createAssetLocator, type NamespaceOption } from './asset-locator.ts'
import { createAssetReader } from './asset-reader.ts'
import { assetNotFound } from './asset-record.ts'
import {
  type AssetKind,
  type AssetStore,
  isFullStore,
  type StoreUsage,
  type StoreVerified,
} from './asset-store.ts'
import { createAssetWriter } from './asset-writer.ts'
import {
  type AssetsConfig,
  createConfiguredStore,
  type ResolvedAssetsConfig,
  resolveAssetsConfig,
} from './assets-config.ts'
import type { AssetsCore } from './assets-core.ts'
import type { BodyInput } from './bodies/body.ts'
import { createContentCache } from './content-cache.ts'
import { defined } from './defined.ts'
import { createQuota } from './quota.ts'
import { withRecords } from './stores/with-records.ts'
import { type SweepOptions, type SweepResult, sweepAssets } from './sweep-assets.ts'
import { createImporter } from './tables/import-file.ts'

/** Everything that is known of an asset without reading its body. */
export interface AssetInfo {
  assetId: string
  /** The full reference, `asset://…`. */
  ref: string
  /** Null where there are no namespaces. */
  namespace: string | null
  mime: string
  kind: AssetKind
  /** Bytes of the body; of structured content, of its JSON. */
  size: number
  /** SHA-256 of the body, lower-case hex. */
  digest: string
  name: string | null
  description: string | null
  /** ISO 8601 in UTC. */
  createdAt: string
  expiresAt: string | null
  /** Whether it is structured content, with fields that references can name. */
  structured: boolean
}

/** Who makes an asset, for its event. */
export interface AssetMaker {
  /** Default: `system`. */
  by?: AssetOrigin
  tool?: string
  toolCallId?: string
  /** JSON Pointer into the result that held the asset. */
  origin?: string
}

/** Options of {@link Assets.save}. */
export interface SaveOptions extends AssetMaker, NamespaceOption {
  name?: string | null
  description?: string
  assetType?: string
  /** An id of the caller's choice; taken ones are refused with `asset_exists`. */
  assetId?: string
  /** From then on the asset is unknown. */
  expiresAt?: Date | string | null
  /** The bytes are given away: nobody writes to them again, so that they need no copy. */
  owned?: boolean
  signal?: AbortSignal
}

/** A structured asset to save (structured-assets.md, "Assets"). */
export interface StructuredAssetInput {
  asset_type?: string
  asset_id?: string
  asset_name?: string
  description?: string
  /** A MIME type, `command`, `asset_ref`, `data`, or a type string such as `<class 'dict'>`. */
  content_type: string
  content: unknown
}

/** Options of {@link Assets.saveAsset}. */
export interface SaveAssetOptions extends AssetMaker, NamespaceOption {
  expiresAt?: Date | string | null
  signal?: AbortSignal
}

/** Options of {@link Assets.importFile}. */
export interface ImportOptions extends SaveOptions {
  /** The file's name; its extension helps to tell a table. */
  name: string
  mime?: string | null
  /** Told how far the making of a table is: of `size` bytes of the file, `bytes` were read to find its columns
   * (`reading`), then to write its rows (`writing`). */
  onProgress?(progress: { phase: 'reading' | 'writing'; bytes: number; size: number }): void
}

/** Which bytes: `start` inclusive, `end` exclusive; a negative `start` counts from the end. */
export interface OpenOptions extends NamespaceOption {
  start?: number
  end?: number
  signal?: AbortSignal
}

/** An open body: bytes `start` (inclusive) to `end` (exclusive) of `size`. Nothing is read before the stream is. */
export interface OpenedAsset {
  info: AssetInfo
  mime: string
  /** Bytes of the whole body. */
  size: number
  start: number
  end: number
  stream: ReadableStream<Uint8Array>
}

/**
 * Assets by reference. Every method takes a bare id, an asset URL or a reference object, and rejects with
 * `asset_not_found` for what is unknown in the namespace of the call (`invalid_reference` for what is no reference).
 * A reference with a field path stands for the value at that path: bytes as they are, text as UTF-8, the rest as JSON.
 */
export interface Assets {
  /** Saves a file. Its type is what its bytes say, else `mime`, else what its name says. */
  save(body: BodyInput, mime?: string | null, options?: SaveOptions): Promise<AssetInfo>
  /** Saves structured content: JSON with bytes at its leaves; in the memory store also live objects. */
  saveAsset(asset: StructuredAssetInput, options?: SaveAssetOptions): Promise<AssetInfo>
  /**
   * Saves a file and, where it is a table (CSV, TSV, JSON rows, NDJSON), also a structured asset with its columns and rows
   * whose `content.source` refers to the file. A broken table throws `TableError`; the file's asset stays.
   */
  importFile(
    body: BodyInput,
    options: ImportOptions,
  ): Promise<{ asset: AssetInfo; table: AssetInfo | null }>
  get(ref: AssetRefInput, options?: NamespaceOption): Promise<{ bytes: Uint8Array; mime: string }>
  getBase64(
    ref: AssetRefInput,
    options?: NamespaceOption,
  ): Promise<{ base64: string; mime: string }>
  getDataUrl(ref: AssetRefInput, options?: NamespaceOption): Promise<string>
  open(ref: AssetRefInput, options?: OpenOptions): Promise<OpenedAsset>
  info(ref: AssetRefInput, options?: NamespaceOption): Promise<AssetInfo>
  /** Where the body can be fetched: by the store's own URL if it has one, else, or if `inline`, a data URL. */
  urlFor(
    ref: AssetRefInput,
    options?: NamespaceOption & { inline?: boolean; expiresIn?: number },
  ): Promise<string>
  /** Newest first. */
  list(
    options?: NamespaceOption & { limit?: number; cursor?: string | null },
  ): Promise<{ assets: AssetInfo[]; next: string | null }>
  /** Removes the asset; false if there was none. */
  delete(ref: AssetRefInput, options?: NamespaceOption): Promise<boolean>
  /**
   * The value at the reference's field path; a reference without one gives the content: text for text types, a value for
   * JSON and structured content, else bytes. The caller may change what it gets.
   */
  resolve(ref: AssetRefInput, options?: NamespaceOption): Promise<unknown>
  /** The asset's meta (spec A2). Never reads a body. */
  meta(ref: AssetRefInput, options?: NamespaceOption): Promise<AssetMeta>
  /**
   * Removes expired assets, what crashes left, and the assets of the namespace that nothing names any more: mark and
   * sweep, safe while others write.
   */
  sweep(options?: NamespaceOption & SweepOptions): Promise<SweepResult>
  /** Reads every body of the namespace again and compares it with its digest. Yields one finding for each. */
  verify(options?: NamespaceOption & { signal?: AbortSignal }): AsyncIterable<StoreVerified>
  /** What the namespace holds. */
  usage(options?: NamespaceOption): Promise<StoreUsage>
  /**
   * For a store of your own that keeps no records: what an `ASSET_CREATED` event in the log said, so that its asset is
   * known again after a restart, in its namespace and in no other. Other stores know already. Agents do this with the
   * log of a conversation that goes on.
   */
  remember(created: AssetCreated, options?: NamespaceOption): void
  /** Tells `onEvent` of a body that could not become an asset. */
  reportError(error: AssetFailure): Promise<void>
  /** The same assets with other defaults: for one run, one tool or one call. Its `onEvent` is told before the outer one. */
  scoped(scope: AssetScope): Assets
  /** Opens the store, so that what is wrong with it shows early. */
  ready(): Promise<void>
  readonly config: ResolvedAssetsConfig
}

/** A body that could not become an asset, and who made it. */
export interface AssetFailure extends AssetMaker {
  code: string
  message: string
  mime?: string
}

/** Defaults for every call of a view. */
export interface AssetScope extends AssetMaker, NamespaceOption {
  /** Told of every new asset; awaited, so that it can be logged before its reference is used. */
  onEvent?: (event: AssetEvent) => unknown
}

/** Options of {@link createAssets}. */
export interface CreateAssetsOptions extends AssetScope {
  config?: AssetsConfig
  /** A store of your own, or one of ours, instead of what `config.backend` names. */
  store?: AssetStore
}

/** Assets over a store: saving, reading, references, namespaces, limits and events. */
export function createAssets(options: CreateAssetsOptions = {}): Assets {
  const { config: given = {}, store: own, ...scope } = options
  const store = own ? (isFullStore(own) ? own : withRecords(own)) : createConfiguredStore(given)
  const config = resolveAssetsConfig(given, store)
  const core: AssetsCore = {
    store,
    config,
    locator: createAssetLocator(config.namespacing),
    cache: createContentCache(config.limits.cacheBytes),
    payloads: createAssetPayloads(config.limits.eventBytes),
    quota: createQuota(config.limits, (namespace) => store.usage({ namespace })),
  }
  return viewOf(core, scope)
}

function viewOf(core: AssetsCore, scope: AssetScope): Assets {
  const { save, saveAsset, saveEncoded, reportError } = createAssetWriter(core, scope)
  const reader = createAssetReader(core, scope)
  const namespaceFor = (options?: NamespaceOption) =>
    core.locator.namespaceFor(options, scope.namespace)
  const openAgain = async ({ assetId }: AssetInfo, options: NamespaceOption) => {
    const opened = await core.store.open(assetId, { namespace: namespaceFor(options), keep: true })
    if (!opened) throw assetNotFound(assetId)
    return opened.stream
  }
  return {
    ...reader,
    save,
    saveAsset,
    reportError,
    importFile: createImporter({ save, saveEncoded }, openAgain),
    scoped: (inner) => viewOf(core, innerScope(scope, inner)),
    async sweep({ namespace, ...options } = {}) {
      const where = namespaceFor({ namespace })
      const swept = await sweepAssets(core.store, where, options)
      core.quota.forget(where)
      return swept
    },
    verify: ({ namespace, signal } = {}) =>
      core.store.verify({ namespace: namespaceFor({ namespace }), signal }),
    usage: async (options) => core.store.usage({ namespace: namespaceFor(options) }),
    remember(created, options) {
      const namespace = namespaceFor(options)
      if ((created.namespace ?? null) === namespace) core.store.remember?.(created, { namespace })
    },
    ready: () => core.store.ready(),
    config: core.config,
  }
}

/** The inner scope's settings over the outer's; both are told of events, the inner one first. */
function innerScope(outer: AssetScope, inner: AssetScope): AssetScope {
  const { onEvent: told, namespace, ...settings } = inner
  const both = async (event: AssetEvent) => {
    await told?.(event)
    await outer.onEvent?.(event)
  }
  return {
    ...outer,
    ...defined({ ...settings, namespace: namespace ?? undefined }),
    onEvent: told && outer.onEvent ? both : (told ?? outer.onEvent),
  }
}
