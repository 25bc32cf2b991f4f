import { createContentCache } from '../../assets/content-access.ts'

/** Bodies as models take them, kept over the steps and conversations of one agent. */
export interface MediaCache {
  /** What is kept under the key, or undefined. */
  peek(key: string): unknown
  /** What is kept under the key, else what `make` makes: once, also for callers at the same time. A failure is not kept. */
  load<T>(key: string, make: () => Promise<{ value: T; bytes: number }>): Promise<T>
  /** Drops what is kept under the key. */
  forget(key: string): void
}

/** Options of {@link createMediaCache}. */
export interface MediaCacheOptions {
  /** Bytes of all that is kept; what was used longest ago goes first. Default: 64 MiB. */
  maxBytes?: number
}

/** A {@link MediaCache} bounded in bytes. One belongs to an agent. */
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
