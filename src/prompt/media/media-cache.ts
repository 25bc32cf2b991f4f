/** Bodies as models take them, kept over the steps and conversations of one agent. */
export interface MediaCache {
  /** What is kept under the key, or undefined. */
  peek(key: string): unknown
  /** What is kept under the key, else what `make` makes of it, once also for callers at the same time. */
  load<T>(key: string, make: () => Promise<{ value: T; bytes: number }>): Promise<T>
}

/** Options of {@link createMediaCache}. */
export interface MediaCacheOptions {
  /** Bytes of all that is kept; what was used longest ago goes first. Default: 64 MiB. */
  maxBytes?: number
}

/** A {@link MediaCache} bounded in bytes. One belongs to an agent. */
export function createMediaCache(_options: MediaCacheOptions = {}): MediaCache {
  throw new Error('follows')
}
