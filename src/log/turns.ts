/** Runs work with the same key one after the other, in the order of the calls. A failure ends only its own work. */
export class Turns<Key> {
  /** The last work of each key. */
  readonly #last = new Map<Key, Promise<unknown>>()

  async take<T>(key: Key, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key)
    const turn = (async () => {
      await before?.catch(() => {})
      return work()
    })()
    this.#last.set(key, turn)
    try {
      return await turn
    } finally {
      if (this.#last.get(key) === turn) this.#last.delete(key)
    }
  }
}
