import { onAbort } from './on-abort.ts'

/** Limits how many pieces of work run in parallel. Others wait: groups take turns, and each has its order of arrival. */
export class Slots {
  readonly #waiting = new Map<string, (() => void)[]>()
  #left: number

  /** @param count `Infinity` means no limit. */
  constructor(count: number) {
    this.#left = count
  }

  /** Takes a slot if one is free, and returns whether it did. */
  tryTake(): boolean {
    if (this.#left <= 0) return false
    this.#left--
    return true
  }

  /**
   * Takes a slot as soon as one is free.
   *
   * @throws the signal's reason, if the signal aborts before
   */
  async take(signal?: AbortSignal, group = ''): Promise<void> {
    signal?.throwIfAborted()
    if (this.tryTake()) return
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

  /** Frees a slot. */
  free(): void {
    const [turn] = this.#waiting
    if (!turn) {
      this.#left++
      return
    }
    const [group, queue] = turn
    const next = queue.shift()
    this.#waiting.delete(group)
    if (queue.length > 0) this.#waiting.set(group, queue)
    next?.()
  }
}
