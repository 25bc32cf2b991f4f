import { ByrefError } from '../errors.ts'
import type { FullAssetStore } from './asset-store.ts'
import type { S3BodiesOptions } from './bodies/s3-bodies.ts'
import { defined } from './defined.ts'
import { createFsAssetStore, type FsAssetStoreOptions } from './stores/fs.ts'
import { createMemoryAssetStore } from './stores/memory.ts'
import { createPassthroughStore, type PassthroughStoreOptions } from './stores/passthrough.ts'
import { createS3AssetStore } from './stores/s3.ts'

/** How assets are kept (binary-assets.md, "Configuration Reference"), and our limits. */
export interface AssetsConfig {
  /** Default: `memory`. */
  backend?: 'memory' | 'fs' | 's3' | 'passthrough'
  fs?: FsAssetStoreOptions
  s3?: S3BodiesOptions
  passthrough?: PassthroughStoreOptions
  namespacing?: {
    /** `context`: every call works in a namespace, and none is refused. Default: `none`. */
    mode?: 'none' | 'context'
    /** Whether references name their namespace. Default: false. */
    includeInRef?: boolean
  }
  /** Above this, a body goes to the model by URL or smaller. Default: 100,000. */
  inlineThresholdBytes?: number
  /** Whether references become parts for the model. Default: true. */
  resolveInLLM?: boolean
  /** Whether DuckDB (`@duckdb/node-api`) makes tables of large files, where it is installed. Default: true. */
  duckdb?: boolean
  limits?: AssetLimits
}

/** What is refused, each with an error of its own. */
export interface AssetLimits {
  /** Bytes of one body (`asset_too_large`). Default: 4 GiB. */
  bodyBytes?: number
  /** Assets in one result (`too_many_assets`). Default: 10,000. */
  items?: number
  /** Levels of one result, of structured content, or of JSON that becomes a value (`too_deep`). Default: 1,000. */
  depth?: number
  /** Bytes of all bodies in one result (`result_too_large`), streams as they flow. Default: 512 MiB. */
  resultBytes?: number
  /** Bytes of distinct bodies in one namespace, parts included (`quota_exceeded`). Default: none. */
  quotaBytes?: number
  /** Assets in one namespace (`quota_exceeded`). Default: none. */
  quotaAssets?: number
  /** Bytes of text or JSON that a reference may become in memory (`asset_too_large`). Default: 256 MiB. */
  valueBytes?: number
  /** Bytes of parsed content that are kept for the next reference. Default: 64 MiB. */
  cacheBytes?: number
  /**
   * Bytes of a new body that is readable through its event (`payload.base64`) as long as somebody has the event. All
   * such bodies together are at most `resultBytes`. Nothing is kept where nobody listens. Default: 32 MiB.
   */
  eventBytes?: number
}

/** {@link AssetsConfig} with every default filled in. */
export interface ResolvedAssetsConfig {
  backend: string
  /** Whether a body can be read once only, so that the model is given markers and no bytes. */
  readsOnce: boolean
  namespacing: { mode: 'none' | 'context'; includeInRef: boolean }
  inlineThresholdBytes: number
  resolveInLLM: boolean
  duckdb: boolean
  limits: Required<AssetLimits>
}

const MIB = 1024 * 1024

const DEFAULT_LIMITS: Readonly<Required<AssetLimits>> = {
  bodyBytes: 4096 * MIB,
  items: 10_000,
  depth: 1_000,
  resultBytes: 512 * MIB,
  quotaBytes: Infinity,
  quotaAssets: Infinity,
  valueBytes: 256 * MIB,
  cacheBytes: 64 * MIB,
  eventBytes: 32 * MIB,
}

/**
 * Fills in the defaults; an option that is undefined has its default.
 *
 * @throws ByrefError `config_invalid` for a limit that is no whole number from 0 (`Infinity`: none), and for an unknown
 * namespacing mode
 */
export function resolveAssetsConfig(
  config: AssetsConfig,
  store: FullAssetStore,
): ResolvedAssetsConfig {
  const { mode = 'none', includeInRef = false } = config.namespacing ?? {}
  if (mode !== 'none' && mode !== 'context') {
    const message = `namespacing.mode ${JSON.stringify(mode)} is neither "none" nor "context".`
    throw new ByrefError('config_invalid', message)
  }
  const { inlineThresholdBytes = 100_000, resolveInLLM = true, duckdb = true } = config
  checkLimit('inlineThresholdBytes', inlineThresholdBytes)
  return {
    backend: store.backend,
    readsOnce: store.readsOnce,
    namespacing: { mode, includeInRef },
    inlineThresholdBytes,
    resolveInLLM,
    duckdb,
    limits: resolveLimits(config.limits),
  }
}

function resolveLimits(given: AssetLimits = {}): Required<AssetLimits> {
  const limits = { ...DEFAULT_LIMITS, ...defined(given) }
  for (const [name, limit] of Object.entries(limits)) checkLimit(`limits.${name}`, limit)
  return limits
}

function checkLimit(name: string, limit: unknown): void {
  if (limit === Infinity || (Number.isInteger(limit) && Number(limit) >= 0)) return
  const shown = typeof limit === 'string' ? JSON.stringify(limit) : String(limit)
  throw new ByrefError(
    'config_invalid',
    `${name} is ${shown}; give a whole number from 0, or Infinity for no limit.`,
  )
}

/** The store that the configuration names. */
export function createConfiguredStore(config: AssetsConfig): FullAssetStore {
  switch (config.backend ?? 'memory') {
    case 'memory':
      return createMemoryAssetStore()
    case 'fs':
      if (!config.fs?.rootDir) {
        throw new ByrefError('config_invalid', 'Assets on fs need a folder: set fs.rootDir.')
      }
      return createFsAssetStore(config.fs)
    case 's3':
      if (!config.s3?.bucket) {
        throw new ByrefError('config_invalid', 'Assets on s3 need a bucket: set s3.bucket.')
      }
      return createS3AssetStore(config.s3)
    case 'passthrough':
      return createPassthroughStore(config.passthrough)
    default:
      throw new ByrefError(
        'config_invalid',
        `There is no asset backend ${JSON.stringify(config.backend)}; use memory, fs, s3 or passthrough.`,
      )
  }
}
