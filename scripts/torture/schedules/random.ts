/** Random numbers that depend only on a seed. */
export interface Random {
  /** Returns a whole number from 0 to `below`, exclusive. */
  below(below: number): number
  /** Returns true with this probability, from 0 to 1. */
  chance(probability: number): boolean
  pick<T>(items: readonly T[]): T
}

/** Mulberry32: 32 bits of state, evenly distributed, equal on all platforms. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    below: (below) => Math.floor(next() * below),
    chance: (probability) => next() < probability,
    pick: (items) => items[Math.floor(next() * items.length)] as (typeof items)[number],
  }
}
