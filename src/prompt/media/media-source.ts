import type { Assets } from '../../assets/assets-contract.ts'
import type { ModelCapabilities } from '../../models/model-capabilities.ts'
import type { MediaCache } from './media-cache.ts'

/** Where bodies come from, and what a model takes of them. */
export interface MediaSource {
  capabilities: ModelCapabilities
  /** In the namespace of the conversation. */
  assets: Pick<Assets, 'info' | 'get' | 'open' | 'meta' | 'urlFor' | 'resolve' | 'text' | 'config'>
  /** That namespace; null where there is none. What is kept for one is never given to another. */
  namespace: string | null
  cache: MediaCache
  /** `none`: notes alone, nothing is read. Default: `all`. */
  media?: 'all' | 'none'
  /** Whether the model has `fetch_asset` and `search_asset` to read on where a text is cut. */
  reading?: boolean
  options?: MediaOptions
  /** Told once per body of what could be better, such as a library to install. */
  onDiagnostic?(message: string): void
  /** References of bodies that are not there any more, whatever the cache still has of them. */
  gone?: Pick<ReadonlySet<string>, 'has'>
  /** Told of each body that is not there, or could not be read: then with the error. */
  onMissing?(ref: string, error?: unknown): void
}

/** Characters of text that are shown of one body. */
export const MAX_TEXT_CHARS = 16_000

/** How bodies become parts. */
export interface MediaOptions {
  /** Pixels of the long side above which a large image is made smaller. Default: 2048. */
  imageMaxSide?: number
  /** Milliseconds to wait for a body, and 1,000 more for each MiB of it. Default: 20,000. */
  timeoutMs?: number
  /** Characters of text that are shown of one body. Default: 16,000. */
  maxTextChars?: number
}
