/** Functions that are called after each change, for `useSyncExternalStore`. */
export class Listeners {
  readonly #all = new Set<() => void>()

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#all.add(listener)
    return () => this.#all.delete(listener)
  }

  /** Calls all of them. */
  tell(): void {
    for (const listener of [...this.#all]) listener()
  }
}
