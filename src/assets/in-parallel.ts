/**
 * Runs `run` for every item in order, as many at once as fit into `limit` by their `places` (default: one each). An
 * item that needs more runs alone. Rejects with the first failure, after the running items have ended. The rest is not
 * started.
 */
export async function inParallel<T>(
  items: readonly T[],
  options: { limit: number; places?: (item: T) => number },
  run: (item: T) => Promise<unknown>,
): Promise<void> {
  const { limit, places = () => 1 } = options
  const running = new Set<Promise<void>>()
  let taken = 0
  let failed: { error: unknown } | undefined

  async function start(item: T, size: number): Promise<void> {
    taken += size
    try {
      await run(item)
    } catch (error) {
      failed ??= { error }
    }
    taken -= size
  }

  for (const item of items) {
    const size = Math.min(places(item), limit)
    while (taken + size > limit) await Promise.race(running)
    if (failed) break
    const task = start(item, size).finally(() => running.delete(task))
    running.add(task)
  }
  await Promise.all(running)
  if (failed) throw failed.error
}

/** Runs `run` for every item, at most `limit` at once. Returns the results in the order of the items. */
export async function mapInParallel<T, Result>(
  items: readonly T[],
  limit: number,
  run: (item: T) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  await inParallel([...items.entries()], { limit }, async ([i, item]) => {
    results[i] = await run(item)
  })
  return results
}
