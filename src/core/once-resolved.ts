/**
 * Returns a function that does work once: the first call starts it, and every call gets its result. The next call after
 * a failure starts it again.
 */
export function onceResolved<T>(work: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | null = null
  return () => {
    started ??= work().catch((error) => {
      started = null
      throw error
    })
    return started
  }
}
