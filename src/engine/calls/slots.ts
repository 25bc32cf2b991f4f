/** Places for work that goes on at once: whoever comes when all are taken waits, first come, first served. */
export interface Slots {
  /** Takes a place, if there is one and nobody waits. */
  tryTake(): boolean
  /** Takes a place as soon as there is one. */
  take(): Promise<void>
  /** Gives a place back. */
  free(): void
}

/** So many places; Infinity for no bound. */
export function createSlots(count: number): Slots {
  const waiting: (() => void)[] = []
  let left = count
  const tryTake = (): boolean => {
    if (left <= 0) return false
    left--
    return true
  }
  return {
    tryTake,
    async take() {
      if (!tryTake()) await new Promise<void>((resolve) => waiting.push(resolve))
    },
    free() {
      const next = waiting.shift()
      if (next) next()
      else left++
    },
  }
}
