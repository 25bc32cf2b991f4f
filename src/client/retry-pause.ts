/**
 * Returns the pause before the next attempt, after a number of consecutive failures: it doubles up to 20 times the first, with
 * jitter.
 */
export function pauseAfter(failures: number, first: number): number {
  return first * Math.min(20, 2 ** failures) * (0.75 + Math.random() / 2)
}

/** Waits, at most until the network comes back. An abort ends the wait without an error. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const target = globalThis as Partial<
    Pick<EventTarget, 'addEventListener' | 'removeEventListener'>
  >
  const wake = () => resolve()
  const timer = setTimeout(wake, milliseconds)
  signal?.addEventListener('abort', wake, { once: true })
  target.addEventListener?.('online', wake)
  if (signal?.aborted) wake()
  return promise.finally(() => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', wake)
    target.removeEventListener?.('online', wake)
  })
}
