/** The pause before the next try after so many failures in a row: doubles up to 20 times the first, a little at random. */
export function pauseAfter(failures: number, first: number): number {
  return first * Math.min(20, 2 ** failures) * (0.75 + Math.random() / 2)
}

/** Waits, less where the network comes back meanwhile; an abort only ends the wait. */
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
