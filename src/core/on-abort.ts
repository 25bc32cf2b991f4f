type OnAbort = (reason: unknown) => void

/** The callbacks of each signal. They share one listener per signal, because listeners are expensive. */
const listeners = new WeakMap<AbortSignal, Set<OnAbort>>()

/**
 * Calls `listener` once when the signal aborts. Returns the function that removes the callback.
 *
 * @throws the signal's reason, if the signal has already aborted
 */
export function onAbort(signal: AbortSignal, listener: OnAbort): () => void {
  signal.throwIfAborted()
  const all = listeners.get(signal) ?? listen(signal)
  all.add(listener)
  return () => {
    all.delete(listener)
  }
}

function listen(signal: AbortSignal): Set<OnAbort> {
  const all = new Set<OnAbort>()
  listeners.set(signal, all)
  const notify = (): void => {
    for (const listener of all) listener(signal.reason)
    all.clear()
  }
  signal.addEventListener('abort', notify, { once: true })
  return all
}

/**
 * Rejects when the signal aborts, even if the work ignores the signal. The result of that work is then
 * ignored.
 */
export async function unlessAborted<T>(
  signal: AbortSignal | undefined,
  work: () => T | Promise<T>,
): Promise<T> {
  if (!signal) return work()
  return new Promise((resolve, reject) => {
    const forget = onAbort(signal, reject)
    new Promise<T>((settle) => settle(work())).finally(forget).then(resolve, reject)
  })
}
