/** One life of a process: its code passes points, and at one of them everything stops. */
export interface Life {
  readonly alive: boolean
  /** Points that were passed so far. */
  readonly points: number
  /** Resolves when it has died. */
  readonly ended: Promise<void>
  /** Dies here and now. */
  end(): void
  /** Counts a point. Never resolves where that is the last one, or was before. */
  pass(): Promise<void>
  /** Does something that is no point of its own; what is done in the moment of death comes to nothing. */
  during<T>(work: () => Promise<T>): Promise<T>
}

/**
 * Begins a life that dies at its point of this number, counted from 1; Infinity for one that does not. `die` may end the
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
