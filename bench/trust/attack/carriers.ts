import { createRandom } from '../../../src/agent/fixtures/random.ts'
import type { Goal, Injection } from '../injections.ts'
import { ENTRIES } from './entries.ts'
import { follow, HOPS, SETTINGS, SINKS } from './moves.ts'
import { play, type Reach, Scene } from './scene.ts'

/** One attack: how the poison enters, what happens to it, and its goal. Each is the name of a move. */
export interface Attack {
  injection: Injection
  goal: Goal
  entry: string
  /** A hop, and the path that is added to the reference after it. */
  hops: readonly { hop: string; path: string }[]
  /** The path that is added to the first reference. */
  path: string
  sinks: readonly string[]
  settings: readonly string[]
  /** The seed for random choices of moves. */
  seed: number
}

function find<T extends { name: string }>(moves: readonly T[], name: string): T {
  const move = moves.find((one) => one.name === name)
  if (!move) throw new Error(`There is no move "${name}"`)
  return move
}

/** Plays one attack. */
export async function attack(one: Attack): Promise<Reach> {
  const choose = createRandom(one.seed)
  const scene = new Scene(one.injection, one.goal)
  for (const name of one.settings) await find(SETTINGS, name).apply(scene, choose)
  await find(ENTRIES, one.entry).apply(scene, choose)
  follow(scene, one.path)
  for (const { hop, path } of one.hops) {
    await find(HOPS, hop).apply(scene, choose)
    follow(scene, path)
  }
  for (const name of one.sinks) {
    const { at } = scene
    await find(SINKS, name).apply(scene, choose)
    scene.at = at
  }
  return play(scene)
}

/** Describes an attack. */
export function wordsOf({ injection, entry, path, hops, sinks, settings, seed }: Attack): string {
  const way = [`${entry}${path}`, ...hops.map(({ hop, path }) => `${hop}${path}`), ...sinks]
  return `${injection.name}: ${way.join(' → ')}${settings.length > 0 ? ` (${settings.join(', ')})` : ''}, seed ${seed}`
}
