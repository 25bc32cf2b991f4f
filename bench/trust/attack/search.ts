import { createRandom, type Random } from '../../../src/agent/fixtures/random.ts'
import { GOALS, INJECTIONS } from '../injections.ts'
import { type Attack, attack, wordsOf } from './carriers.ts'
import { ENTRIES } from './entries.ts'
import { HOPS, PATHS, SETTINGS, SINKS } from './moves.ts'
import { STAGES, type Stage } from './scene.ts'

/** The result of a search. */
export interface Found {
  played: number
  /** The number of attacks that reached each stage. */
  reached: Map<Stage, number>
  /** The number of kept attacks. */
  kept: number
  leaks: string[]
}

interface Kept {
  attack: Attack
  score: number
}

/** Maximum number of attacks that are kept for mutation. */
const MAX_KEPT = 400

/**
 * Searches for attacks. Each attack is new, or a mutation of one that got far. An attack is kept if it got further
 * than others with the same signs, or if its signs are new. With `first`, the search stops after the first success.
 */
export async function search({
  seed,
  count,
  first = false,
}: {
  seed: number
  count: number
  first?: boolean
}): Promise<Found> {
  const choose = createRandom(seed)
  const best = new Map<string, Kept>()
  const reached = new Map<Stage, number>(STAGES.map((stage) => [stage, 0]))
  const found: Found = { played: 0, reached, kept: 0, leaks: [] }
  while (found.played < count) {
    const one = nextAttack(choose, [...best.values()])
    const { stages, leak, signs } = await attack(one)
    found.played++
    for (const stage of stages) reached.set(stage, (reached.get(stage) ?? 0) + 1)
    if (leak !== null) found.leaks.push(`${wordsOf(one)}\n    ${leak.slice(0, 400)}`)
    const score = [...stages].reduce((sum, stage) => sum + 2 ** STAGES.indexOf(stage), 0)
    keep(best, [one.entry, ...[...signs].sort()].join(), { attack: one, score })
    found.kept = best.size
    if (first && found.leaks.length > 0) break
  }
  return found
}

function keep(best: Map<string, Kept>, signs: string, one: Kept): void {
  const known = best.get(signs)
  if (known && known.score > one.score) return
  best.delete(signs)
  best.set(signs, one)
  if (best.size <= MAX_KEPT) return
  const [worst] = [...best].reduce((a, b) => (b[1].score < a[1].score ? b : a))
  best.delete(worst)
}

function nextAttack(choose: Random, kept: readonly Kept[]): Attack {
  if (kept.length < 20 || choose.chance(0.2)) return newAttack(choose)
  const parent = better(choose, kept).attack
  let child = parent
  const changes = 1 + choose.below(3)
  for (let i = 0; i < changes; i++) child = changed(child, better(choose, kept).attack, choose)
  return { ...child, seed: choose.below(2 ** 31) }
}

/** Picks three attacks, and returns the one that got furthest. */
function better(choose: Random, kept: readonly Kept[]): Kept {
  const three = [choose.pick(kept), choose.pick(kept), choose.pick(kept)]
  return three.reduce((a, b) => (b.score > a.score ? b : a))
}

function newAttack(choose: Random): Attack {
  return {
    injection: choose.pick(INJECTIONS),
    goal: choose.pick(GOALS),
    entry: choose.pick(ENTRIES).name,
    path: newPath(choose),
    hops: Array.from({ length: choose.below(3) }, () => newHop(choose)),
    sinks: [choose.pick(SINKS).name, choose.pick(SINKS).name],
    settings: choose.chance(0.4) ? [choose.pick(SETTINGS).name] : [],
    seed: choose.below(2 ** 31),
  }
}

const newPath = (choose: Random): string => (choose.chance(0.5) ? '' : choose.pick(PATHS))
const newHop = (choose: Random) => ({ hop: choose.pick(HOPS).name, path: newPath(choose) })

/** Changes one part of an attack, randomly or to the part of another attack. */
function changed(one: Attack, other: Attack, choose: Random): Attack {
  const at = choose.below(one.hops.length + 1)
  switch (choose.below(9)) {
    case 0:
      return { ...one, injection: choose.pick(INJECTIONS), goal: choose.pick(GOALS) }
    case 1:
      return { ...one, entry: choose.pick(ENTRIES).name }
    case 2:
      return { ...one, path: newPath(choose) }
    case 3:
      if (one.hops.length >= 5) return { ...one, hops: one.hops.toSpliced(at, 1) }
      return { ...one, hops: one.hops.toSpliced(at, 0, newHop(choose)) }
    case 4:
      return { ...one, hops: one.hops.toSpliced(at, 1) }
    case 5:
      return { ...one, hops: one.hops.toSpliced(at, 1, newHop(choose)) }
    case 6:
      return { ...one, sinks: [one.sinks[0] as string, choose.pick(SINKS).name] }
    case 7:
      return { ...one, settings: choose.chance(0.5) ? [] : [choose.pick(SETTINGS).name] }
    default:
      return {
        ...one,
        hops: [...one.hops.slice(0, 3), ...other.hops.slice(0, 2)],
        sinks: other.sinks,
      }
  }
}
