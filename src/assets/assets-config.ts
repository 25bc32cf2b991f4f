import { is, type OptionTable } from '../core/check-options.ts'
import { defined } from '../core/defined.ts'
import { ByrefError } from '../core/errors.ts'
import type { NamespaceMode } from './asset-locator.ts'
import type { FullAssetStore } from './asset-store.ts'
import { createFsAssetStore, FS_OPTIONS, type FsAssetStoreOptions } from './stores/fs.ts'
import { createMemoryAssetStore } from './stores/memory.ts'
import {
  createPassthroughStore,
  PASSTHROUGH_OPTIONS,
  type PassthroughStoreOptions,
} from './stores/passthrough.ts'
import { createS3AssetStore, S3_STORE_OPTIONS, type S3AssetStoreOptions } from './stores/s3.ts'

/** The storage of assets, and its limits. */
export interface AssetsConfig {
  /** Default: `memory`. */
  backend?: 'memory' | 'fs' | 's3' | 'passthrough'
  fs?: FsAssetStoreOptions
  s3?: S3AssetStoreOptions
  passthrough?: PassthroughStoreOptions
  namespacing?: {
    /**
     * `none`: there are no namespaces. `context`: every call needs one. `optional`: a call may have one. Default: `none`, for
     * agents `optional`.
     */
    mode?: NamespaceMode
    /** Whether references name their namespace. Default: false. */
    includeInRef?: boolean
  }
  /** If possible, a larger body is sent to the model by URL, or scaled down. In bytes. Default: 100,000. */
  inlineThresholdBytes?: number
  /** Whether attached media are sent to models that accept them. Otherwise models see only markers. Default: true. */
  resolveInLLM?: boolean
  /** Whether DuckDB (`@duckdb/node-api`), if it is installed, imports large CSV files. Default: true. */
  duckdb?: boolean
  limits?: AssetLimits
}

/** Limits. Exceeding one is an error with the code in parentheses. */
export interface AssetLimits {
  /** Bytes of one body (`asset_too_large`). Default: 4 GiB. */
  bodyBytes?: number
  /** Assets in one result (`too_many_assets`). Default: 10,000. */
  items?: number
  /** Assets of less than 1 kB in one result, which cost more than they contain (`too_many_assets`). Default: 1,000. */
  smallItems?: number
  /** Levels of one result, of structured content, or of JSON that becomes a value (`too_deep`). Default: 1,000. */
  depth?: number
  /** Bytes of all bodies in one result (`result_too_large`). Streams are counted while they are read. Default: 512 MiB. */
  resultBytes?: number
  /** Bytes of all distinct bodies in one namespace, including parts of structured assets (`quota_exceeded`). Default: none. */
  quotaBytes?: number
  /** Assets in one namespace (`quota_exceeded`). Default: none. */
  quotaAssets?: number
  /**
   * Bytes of text or JSON that become a value in memory, and of all values that one call receives (`asset_too_large`).
   * Default: 256 MiB.
   */
  valueBytes?: number
  /** Bytes of parsed content that stay in memory for the next reference. Default: 64 MiB. */
  cacheBytes?: number
  /**
   * Maximum bytes of a new body that can be read through its event (`payload.base64`), as long as your code holds the event.
   * All these bodies together have at most `resultBytes`. Without a listener, no body is kept. Default: 32 MiB.
   */
  eventBytes?: number
}

/** {@link AssetsConfig} with every default filled in. */
export interface ResolvedAssetsConfig {
  backend: string
  /** Whether a body can be read only once, so that the model gets markers instead of bytes. */
  readsOnce: boolean
  namespacing: { mode: NamespaceMode; includeInRef: boolean }
  inlineThresholdBytes: number
  resolveInLLM: boolean
  duckdb: boolean
  limits: Required<AssetLimits>
}

const MIB = 1024 * 1024

const DEFAULT_LIMITS: Readonly<Required<AssetLimits>> = {
  bodyBytes: 4096 * MIB,
  items: 10_000,
  smallItems: 1_000,
  // An event adds some levels to a result, and may have at most 1,000.
  depth: 900,
  resultBytes: 512 * MIB,
  quotaBytes: Infinity,
  quotaAssets: Infinity,
  valueBytes: 256 * MIB,
  cacheBytes: 64 * MIB,
  eventBytes: 32 * MIB,
}

export const ASSETS_CONFIG: OptionTable<AssetsConfig> = {
  backend: is.oneOf('memory', 'fs', 's3', 'passthrough'),
  fs: is.group(FS_OPTIONS),
  s3: is.group(S3_STORE_OPTIONS),
  passthrough: is.group(PASSTHROUGH_OPTIONS),
  namespacing: is.group({
    mode: is.oneOf('none', 'context', 'optional'),
    includeInRef: is.boolean,
  }),
  inlineThresholdBytes: is.wholeNumber,
  ...is.all(is.boolean, 'resolveInLLM', 'duckdb'),
  limits: is.group(
    is.all(is.wholeNumber, ...(Object.keys(DEFAULT_LIMITS) as (keyof AssetLimits)[])),
  ),
}

/** Fills in the defaults; an option that is undefined has its default. */
export function resolveAssetsConfig(
  config: AssetsConfig,
  store: FullAssetStore,
): ResolvedAssetsConfig {
  const { mode = 'none', includeInRef = false } = config.namespacing ?? {}
  const { inlineThresholdBytes = 100_000, resolveInLLM = true, duckdb = true } = config
  return {
    backend: store.backend,
    readsOnce: store.readsOnce,
    namespacing: { mode, includeInRef },
    inlineThresholdBytes,
    resolveInLLM,
    duckdb,
    limits: { ...DEFAULT_LIMITS, ...defined(config.limits ?? {}) },
  }
}

/**
 * Returns the store that the configuration names.
 *
 * @throws ByrefError `config_invalid` for options of a backend without `backend`: in memory, data would be lost at a
 * restart
 */
export function createConfiguredStore({ backend, ...of }: AssetsConfig): FullAssetStore {
  const given = (['fs', 's3', 'passthrough'] as const).find((name) => of[name] !== undefined)
  if (backend === undefined && given !== undefined) {
    const message = `There are options for the backend "${given}", and no backend is chosen: add backend: "${given}"`
    throw new ByrefError('config_invalid', message)
  }
  if (backend === 'passthrough') return createPassthroughStore(of.passthrough)
  if (backend === 'fs' && of.fs) return createFsAssetStore(of.fs)
  if (backend === 's3' && of.s3) return createS3AssetStore(of.s3)
  if (backend !== 'fs' && backend !== 's3') return createMemoryAssetStore()
  const needed = backend === 'fs' ? 'fs: { rootDir }' : 's3: { bucket, records }'
  throw new ByrefError('config_invalid', `The backend "${backend}" needs its options: ${needed}`)
}
