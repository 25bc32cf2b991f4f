/** A map with a maximum size. A new entry replaces the one that was used least recently. */
export class RecentMap<K, V> {
  readonly #max: number
  readonly #entries = new Map<K, V>()

  constructor(max: number) {
    this.#max = max
  }

  get(key: K): V | undefined {
    const value = this.#entries.get(key)
    if (value !== undefined) this.set(key, value)
    return value
  }

  /** Returns the value of the key, or makes and keeps one. */
  getOrMake(key: K, make: () => V): V {
    const value = this.#entries.get(key) ?? make()
    this.set(key, value)
    return value
  }

  set(key: K, value: V): void {
    const entries = this.#entries
    entries.delete(key)
    entries.set(key, value)
    const [oldest] = entries.keys()
    if (entries.size > this.#max && oldest !== undefined) entries.delete(oldest)
  }

  delete(key: K): void {
    this.#entries.delete(key)
  }
}
