/** One life of a process: its code passes points, and at one of them everything stops. */
export interface Life {
  readonly alive: boolean
  /** Number of points so far. */
  readonly points: number
  /** Resolves when it has died. */
  readonly ended: Promise<void>
  /** Dies at once. */
  end(): void
  /** Counts a point. Never resolves if the process dies or has died there. */
  pass(): Promise<void>
  /** Runs work that is not a point itself. Work that is in progress at the moment of death has no effect. */
  during<T>(work: () => Promise<T>): Promise<T>
}

/**
 * Starts a life that dies at the point with this number, counted from 1. Infinity never dies. `die` can end the
 * process itself.
 */
export function createLife(diesAt = Infinity, die: () => void = () => {}): Life {
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  let alive = true
  let points = 0
  const forever = (): Promise<never> => new Promise(() => {})

  function end(): void {
    alive = false
    die()
    resolve()
  }

  return {
    get alive() {
      return alive
    },
    get points() {
      return points
    },
    ended,
    end,
    async pass() {
      if (!alive) return forever()
      if (++points < diesAt) return
      end()
      return forever()
    },
    async during(work) {
      if (!alive) return forever()
      const value = await work()
      return alive ? value : forever()
    },
  }
}
