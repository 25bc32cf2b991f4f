/**
 * Runs `run` for every item, at most `limit` at once. Rejects with the first failure, after those that had begun have
 * ended; the rest is not begun.
 */
export async function inParallel<T>(
  items: readonly T[],
  limit: number,
  run: (item: T) => Promise<unknown>,
): Promise<void> {
  let next = 0
  let failed: { error: unknown } | undefined
  async function work(): Promise<void> {
    while (next < items.length && !failed) {
      try {
        await run(items[next++] as T)
      } catch (error) {
        failed ??= { error }
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, work))
  if (failed) throw failed.error
}
