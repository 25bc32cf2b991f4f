type OnAbort = (reason: unknown) => void

/** Who hears of the end of each signal: one listener of the signal for all of them, since these are dear. */
const hearers = new WeakMap<AbortSignal, Set<OnAbort>>()

/**
 * Calls `hear` when the signal aborts, once; returns the function that takes it back.
 *
 * @throws the signal's reason, where it has aborted already
 */
export function onAbort(signal: AbortSignal, hear: OnAbort): () => void {
  signal.throwIfAborted()
  const all = hearers.get(signal) ?? listen(signal)
  all.add(hear)
  return () => {
    all.delete(hear)
  }
}

function listen(signal: AbortSignal): Set<OnAbort> {
  const all = new Set<OnAbort>()
  hearers.set(signal, all)
  const tell = (): void => {
    for (const hear of all) hear(signal.reason)
    all.clear()
  }
  signal.addEventListener('abort', tell, { once: true })
  return all
}

/** Rejects when the signal aborts, even if the work ignores the signal. The outcome of that work is then dropped. */
export function unlessAborted<T>(signal: AbortSignal, work: () => T | Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const forget = onAbort(signal, reject)
    const settle = (end: () => void): void => {
      forget()
      end()
    }
    Promise.resolve(work()).then(
      (value) => settle(() => resolve(value)),
      (error) => settle(() => reject(error)),
    )
  })
}
