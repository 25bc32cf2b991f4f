import type { Assets } from '../../assets/assets-contract.ts'
import type { ContentCache } from '../../assets/content-access.ts'
import type { ModelCapabilities } from '../../models/model-capabilities.ts'
import type { ResolvedItem } from '../transcript-item.ts'

/** Where bodies come from, and what the model accepts. */
export interface MediaSource {
  capabilities: ModelCapabilities
  /** The assets of the conversation's namespace. */
  assets: Pick<Assets, 'info' | 'get' | 'open' | 'meta' | 'urlFor' | 'resolve' | 'text' | 'config'>
  /** The namespace; null if there is none. Cache entries are never shared between namespaces. */
  namespace: string | null
  /** The cache of prepared files, which the steps and conversations of an agent share. */
  cache: ContentCache
  /** `none`: only text markers, and no body is read. Default: `all`. */
  media?: 'all' | 'none'
  /** Whether the model has `fetch_asset` and `search_asset`, to read the rest of a text that is cut. */
  reading?: boolean
  options?: MediaOptions
  /** References of bodies that no longer exist, even if the cache still has them. */
  gone?: Pick<ReadonlySet<string>, 'has'>
  /** Items with files that come last in the same call. They have room first. */
  last?: readonly ResolvedItem[]
  /** Called for each body that does not exist or could not be read, with the error if there is one. */
  onMissing?(ref: string, error?: unknown): void
}

/** Maximum characters of the text of a body. */
export const MAX_TEXT_CHARS = 16_000

/** Default of {@link MediaOptions.imageMaxSide}. */
export const IMAGE_MAX_SIDE = 2048

/** Default of {@link MediaOptions.timeoutMs}. */
export const READ_TIMEOUT_MS = 20_000

/** Limits for converting bodies to prompt parts. */
export interface MediaOptions {
  /** Maximum length of an image's long side in pixels. Larger images are scaled down. Default: 2,048. */
  imageMaxSide?: number
  /** Time limit in milliseconds to read a body, plus 1,000 for each MiB. Default: 20,000. */
  timeoutMs?: number
}

/** Default size of the cache of prepared files, in bytes: 64 MiB. */
export const CACHE_BYTES = 64 * 1024 * 1024
