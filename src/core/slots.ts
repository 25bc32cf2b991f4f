import { onAbort } from './on-abort.ts'

/** Limits how many pieces of work run in parallel. Others wait in order of arrival. */
export class Slots {
  readonly #waiting: (() => void)[] = []
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
  async take(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    if (this.tryTake()) return
    await new Promise<void>((resolve, reject) => {
      const leave = (reason: unknown): void => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1)
        reject(reason)
      }
      const forget = signal && onAbort(signal, leave)
      const begin = (): void => {
        forget?.()
        resolve()
      }
      this.#waiting.push(begin)
    })
  }

  /** Frees a slot. */
  free(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#left++
  }
}
