import type { ByrefError } from './errors.ts'

/** Tracks running calls, so that their owner closes only after they have ended. */
export class RunningCalls {
  readonly #closedError: () => ByrefError
  readonly #running = new Set<Promise<unknown>>()
  #closing: Promise<void> | null = null

  /** @param closedError Returns the error for calls after `close`. */
  constructor(closedError: () => ByrefError) {
    this.#closedError = closedError
  }

  get closed(): boolean {
    return this.#closing !== null
  }

  async run<T>(call: () => Promise<T>): Promise<T> {
    if (this.#closing) throw this.#closedError()
    const running = call()
    this.#running.add(running)
    try {
      return await running
    } finally {
      this.#running.delete(running)
    }
  }

  /** Rejects new calls, and runs `last` when all running calls have ended. */
  close(last: () => void | Promise<void>): Promise<void> {
    this.#closing ??= Promise.allSettled(this.#running).then(last)
    return this.#closing
  }
}
