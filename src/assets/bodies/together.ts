import { inBackground } from '../../in-background.ts'

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
      await settle(group)
    }
    isRunning = false
  }

  /** Never rejects: whoever waits in the group hears what went wrong, and the next group has its turn. */
  async function settle(group: typeof waiting): Promise<void> {
    try {
      const results = await run(group.map(({ item }) => item))
      for (const [i, { done, failed }] of group.entries()) {
        const result = results[i]
        if (result?.status === 'rejected') failed(result.reason)
        else done()
      }
    } catch (error) {
      for (const { failed } of group) failed(error)
    }
  }

  return (item) =>
    new Promise((done, failed) => {
      waiting.push({ item, done, failed })
      if (isRunning) return
      isRunning = true
      queueMicrotask(() => inBackground('Writing bodies', work()))
    })
}
