/** Values that one side pushes and the other iterates; each iteration begins with the first value. */
export interface EventQueue<T> extends AsyncIterable<T> {
  push(value: T): void
  end(): void
  /** Ends it with an error, which every iteration throws. */
  fail(error: unknown): void
}

/** An unbounded queue: a run never waits for those who watch it. */
export function eventQueue<T>(): EventQueue<T> {
  const values: T[] = []
  const waiting = new Set<() => void>()
  let state: 'open' | 'ended' | { error: unknown } = 'open'

  const wake = (): void => {
    for (const resolve of waiting) resolve()
    waiting.clear()
  }

  async function* iterate(): AsyncGenerator<T> {
    for (let i = 0; ; ) {
      while (i < values.length) yield values[i++] as T
      if (typeof state === 'object') throw state.error
      if (state === 'ended') return
      await new Promise<void>((resolve) => waiting.add(resolve))
    }
  }

  return {
    push(value) {
      values.push(value)
      wake()
    },
    end() {
      if (state === 'open') state = 'ended'
      wake()
    },
    fail(error) {
      if (state === 'open') state = { error }
      wake()
    },
    [Symbol.asyncIterator]: iterate,
  }
}
