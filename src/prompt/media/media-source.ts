import type { Assets } from '../../assets/assets-contract.ts'
import { createContentCache } from '../../assets/content-access.ts'
import type { ModelCapabilities } from '../../models/model-capabilities.ts'

/** Where bodies come from, and what the model accepts. */
export interface MediaSource {
  capabilities: ModelCapabilities
  /** The assets of the conversation's namespace. */
  assets: Pick<Assets, 'info' | 'get' | 'open' | 'meta' | 'urlFor' | 'resolve' | 'text' | 'config'>
  /** The namespace; null if there is none. Cache entries are never shared between namespaces. */
  namespace: string | null
  cache: MediaCache
  /** `none`: only text markers, and no body is read. Default: `all`. */
  media?: 'all' | 'none'
  /** Whether the model has `fetch_asset` and `search_asset`, to read the rest of a text that is cut. */
  reading?: boolean
  options?: MediaOptions
  /** Called once per body with a hint, such as a library to install. */
  onDiagnostic?(message: string): void
  /** References of bodies that no longer exist, even if the cache still has them. */
  gone?: Pick<ReadonlySet<string>, 'has'>
  /** Called for each body that does not exist or could not be read, with the error if there is one. */
  onMissing?(ref: string, error?: unknown): void
}

/** Maximum characters of text per body. */
export const MAX_TEXT_CHARS = 16_000

/** Limits for converting bodies to prompt parts. */
export interface MediaOptions {
  /** Maximum length of an image's long side in pixels. Larger images are scaled down. Default: 2,048. */
  imageMaxSide?: number
  /** Time limit in milliseconds to read a body, plus 1,000 for each MiB. Default: 20,000. */
  timeoutMs?: number
  /** Maximum characters of text per body. Default: 16,000. */
  maxTextChars?: number
}

/** A cache of prepared bodies, shared by the steps and conversations of one agent. */
export interface MediaCache {
  /** Returns the entry of the key, or undefined. */
  peek(key: string): unknown
  /**
   * Returns the entry of the key, or calls `make` and keeps its result. Concurrent callers share one call. Failures
   * are not kept.
   */
  load<T>(key: string, make: () => Promise<{ value: T; bytes: number }>): Promise<T>
  /** Removes the entry of the key. */
  forget(key: string): void
}

/** Options of {@link createMediaCache}. */
export interface MediaCacheOptions {
  /** Maximum size in bytes. The least recently used entries are removed first. Default: 64 MiB. */
  maxBytes?: number
}

/** Creates a {@link MediaCache} with a limit in bytes. Each agent has one. */
export function createMediaCache({
  maxBytes = 64 * 1024 * 1024,
}: MediaCacheOptions = {}): MediaCache {
  const kept = createContentCache(maxBytes)
  const pending = new Map<string, Promise<unknown>>()

  return {
    peek: (key) => kept.get(key),
    forget: (key) => kept.delete(key),
    load<T>(key: string, make: () => Promise<{ value: T; bytes: number }>): Promise<T> {
      const found = kept.get(key) ?? pending.get(key)
      if (found !== undefined) return Promise.resolve(found as T | Promise<T>)
      const task = make()
        .then(({ value, bytes }) => {
          kept.set(key, value, bytes)
          return value
        })
        .finally(() => pending.delete(key))
      pending.set(key, task)
      return task
    },
  }
}
