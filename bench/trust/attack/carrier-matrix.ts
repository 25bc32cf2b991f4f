import { GOALS, type Goal, INJECTIONS } from '../injections.ts'
import { type Attack, attack, wordsOf } from './carriers.ts'
import { ENTRIES } from './entries.ts'
import { HOPS } from './moves.ts'

/** The variants that each carrier is tried with. */
const SINKS = [
  ...['an argument', 'a part of a text', 'each item', 'the number of calls'],
  ...['fields that must be trusted', 'a branch that must be trusted', 'a closed choice'],
  ...['a part of a date', 'an answer in words'],
]

/** The carriers: each entry alone, and a plain result through each hop. */
export const CARRIERS: readonly Pick<Attack, 'entry' | 'hops'>[] = [
  ...ENTRIES.map(({ name }) => ({ entry: name, hops: [] })),
  ...HOPS.map(({ name }) => ({ entry: 'a result', hops: [{ hop: name, path: '' }] })),
]

/** The result of a list of attacks. */
export interface Tally {
  played: number
  leaks: string[]
}

/** Plays every injection in every carrier. With `first`, stops after the first success. */
export async function playMatrix(first = false): Promise<Tally> {
  const tally: Tally = { played: 0, leaks: [] }
  for (const [i, carrier] of CARRIERS.entries()) {
    for (const [j, injection] of INJECTIONS.entries()) {
      const goal = GOALS[(i + j) % GOALS.length] as Goal
      const path = j % 2 === 0 ? '' : '.text'
      const one = {
        ...carrier,
        injection,
        goal,
        path,
        sinks: SINKS,
        settings: [],
        seed: i * 100 + j,
      }
      const { leak } = await attack(one)
      tally.played++
      if (leak !== null) tally.leaks.push(`${wordsOf(one)}\n    ${leak.slice(0, 400)}`)
      if (first && tally.leaks.length > 0) return tally
    }
  }
  return tally
}
