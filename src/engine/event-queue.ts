/** Values that one side pushes and others iterate. */
export interface EventQueue<T> extends AsyncIterable<T> {
  /** `keep`: also those who begin to iterate later get it; else only those who iterate now. */
  push(value: T, keep: boolean): void
  end(): void
  /** Ends it with an error, which every iteration throws. */
  fail(error: unknown): void
}

interface Reader<T> {
  values: T[]
  wake(): void
}

/** An unbounded queue: a run never waits for those who watch it, and holds little for who does not. */
export function eventQueue<T>(): EventQueue<T> {
  const kept: T[] = []
  const readers = new Set<Reader<T>>()
  let state: 'open' | 'ended' | { error: unknown } = 'open'

  async function* iterate(reader: Reader<T>): AsyncGenerator<T> {
    try {
      for (;;) {
        const values = reader.values.splice(0)
        for (const value of values) yield value
        // Nothing may come between this look and the wait.
        if (reader.values.length > 0) continue
        if (typeof state === 'object') throw state.error
        if (state === 'ended') return
        await new Promise<void>((resolve) => {
          reader.wake = resolve
        })
      }
    } finally {
      readers.delete(reader)
    }
  }

  function end(next: typeof state): void {
    if (state === 'open') state = next
    for (const reader of readers) reader.wake()
  }

  return {
    push(value, keep) {
      if (keep) kept.push(value)
      for (const reader of readers) {
        reader.values.push(value)
        reader.wake()
      }
    },
    end: () => end('ended'),
    fail: (error) => end({ error }),
    [Symbol.asyncIterator]() {
      const reader: Reader<T> = { values: [...kept], wake() {} }
      readers.add(reader)
      return iterate(reader)
    },
  }
}
