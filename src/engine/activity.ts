/**
 * Counts what a run waits for outside of byref's own code: the model, tools, storage, handlers. While it waits for none
 * of them and nothing is appended, no progress can come any more, and whoever keeps the lease alive hears of that.
 */
export class Activity {
  #pending = 0
  #changes = 0

  /** How many such waits are under way. */
  get pending(): number {
    return this.#pending
  }

  /** Grows with every sign of progress. */
  get changes(): number {
    return this.#changes
  }

  /** Notes progress. */
  note(): void {
    this.#changes++
  }

  /** Counts while `work` lasts. */
  async during<T>(work: () => T | Promise<T>): Promise<T> {
    this.#pending++
    this.#changes++
    try {
      return await work()
    } finally {
      this.#pending--
      this.#changes++
    }
  }
}
