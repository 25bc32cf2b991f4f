/** What was used last, by key; what was not used for longest is forgotten where there are too many. */
export interface Recent<T> {
  readonly size: number
  get(key: string): T | undefined
  set(key: string, value: T): void
  delete(key: string): void
  clear(): void
}

/** @param most How many are kept. */
export function recent<T>(most: number): Recent<T> {
  const kept = new Map<string, T>()
  return {
    get size() {
      return kept.size
    },
    get: (key) => kept.get(key),
    set(key, value) {
      kept.delete(key)
      kept.set(key, value)
      if (kept.size <= most) return
      const [oldest] = kept.keys()
      if (oldest !== undefined) kept.delete(oldest)
    },
    delete(key) {
      kept.delete(key)
    },
    clear: () => kept.clear(),
  }
}
