/** Parsed content by key, bounded in bytes; what was used longest ago goes first. */
export interface ContentCache {
  get(key: string): unknown
  /** Keeps a value that weighs about `bytes`; one that is heavier than the whole cache is not kept. */
  set(key: string, value: unknown, bytes: number): void
  delete(key: string): void
}

/** A {@link ContentCache} of at most `limit` bytes. Values are shared: whoever hands them out copies them. */
export function createContentCache(limit: number): ContentCache {
  const entries = new Map<string, { value: unknown; bytes: number }>()
  let total = 0

  function remove(key: string): void {
    const entry = entries.get(key)
    if (!entry) return
    entries.delete(key)
    total -= entry.bytes
  }

  return {
    get(key) {
      const entry = entries.get(key)
      if (!entry) return undefined
      entries.delete(key)
      entries.set(key, entry)
      return entry.value
    },
    set(key, value, bytes) {
      remove(key)
      if (bytes > limit) return
      entries.set(key, { value, bytes })
      total += bytes
      for (const oldest of entries.keys()) {
        if (total <= limit) break
        remove(oldest)
      }
    },
    delete: remove,
  }
}
