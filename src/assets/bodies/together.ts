interface Waiting<T> {
  item: T
  done(): void
  failed(error: unknown): void
}

/**
 * Gathers what comes while `run` is under way, and gives it to the next: many that come at once share what they have in
 * common. `run` gives what became of each.
 */
export function together<T>(
  run: (items: T[]) => Promise<PromiseSettledResult<unknown>[]>,
): (item: T) => Promise<void> {
  let waiting: Waiting<T>[] = []
  let isRunning = false

  async function work(): Promise<void> {
    while (waiting.length > 0) {
      const group = waiting
      waiting = []
      const results = await run(group.map(({ item }) => item))
      for (const [i, { done, failed }] of group.entries()) {
        const result = results[i]
        if (result?.status === 'rejected') failed(result.reason)
        else done()
      }
    }
    isRunning = false
  }

  return (item) =>
    new Promise((done, failed) => {
      waiting.push({ item, done, failed })
      if (isRunning) return
      isRunning = true
      queueMicrotask(() => void work())
    })
}
