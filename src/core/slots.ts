import { onAbort } from './on-abort.ts'

/** Limits how many pieces of work run in parallel. Others wait: groups take turns, and each has its order of arrival. */
export class Slots {
  readonly #waiting = new Map<string, (() => void)[]>()
  readonly #taken = new Map<string, number>()
  readonly #perGroup: number
  #left: number

  /**
   * @param count `Infinity` means no limit.
   * @param perGroup How many of them one group may take.
   */
  constructor(count: number, perGroup = Number.POSITIVE_INFINITY) {
    this.#left = count
    this.#perGroup = perGroup
  }

  /** Takes a slot if one is free, and returns whether it did. */
  tryTake(group = ''): boolean {
    const taken = this.#taken.get(group) ?? 0
    if (this.#left <= 0 || taken >= this.#perGroup) return false
    this.#left--
    this.#taken.set(group, taken + 1)
    return true
  }

  /**
   * Takes a slot as soon as one is free.
   *
   * @throws the signal's reason, if the signal aborts before
   */
  async take(signal?: AbortSignal, group = ''): Promise<void> {
    signal?.throwIfAborted()
    if (this.tryTake(group)) return
    await new Promise<void>((resolve, reject) => {
      const queue = this.#waiting.get(group) ?? []
      const leave = (reason: unknown): void => {
        queue.splice(queue.indexOf(begin), 1)
        if (queue.length === 0) this.#waiting.delete(group)
        reject(reason)
      }
      const forget = signal && onAbort(signal, leave)
      const begin = (): void => {
        forget?.()
        resolve()
      }
      queue.push(begin)
      this.#waiting.set(group, queue)
    })
  }

  /** Frees a slot of a group. */
  free(group = ''): void {
    this.#left++
    const taken = (this.#taken.get(group) ?? 1) - 1
    if (taken > 0) this.#taken.set(group, taken)
    else this.#taken.delete(group)
    for (const [next, queue] of this.#waiting) {
      if (!this.tryTake(next)) continue
      const begin = queue.shift()
      this.#waiting.delete(next)
      if (queue.length > 0) this.#waiting.set(next, queue)
      begin?.()
      return
    }
  }
}
