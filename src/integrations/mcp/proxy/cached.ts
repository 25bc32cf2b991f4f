/** A value that is made when it is first needed. A failure is not kept. */
export class Cached<T> {
  #value: Promise<T> | null = null

  get(make: () => Promise<T>): Promise<T> {
    if (this.#value) return this.#value
    const made = make()
    this.#value = made
    made.catch(() => {
      if (this.#value === made) this.#value = null
    })
    return made
  }

  /** The value as far as it is made; null where it is not. */
  async known(): Promise<T | null> {
    return (this.#value ?? Promise.resolve(null)).catch(() => null)
  }

  forget(): void {
    this.#value = null
  }
}
