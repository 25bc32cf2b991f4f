import { ContentCache } from '../../assets/content-access.ts'

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
  const kept = new ContentCache(maxBytes)
  return {
    peek: (key) => kept.get(key),
    forget: (key) => kept.delete(key),
    load: (key, make) => kept.load(key, make),
  }
}
