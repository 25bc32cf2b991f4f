import { addLine, linesOf } from './lines.ts'

/** Something that a tool did in the world, outside of any log. */
export interface Effect {
  conversation: string
  /** The call's id, with the index of the item for a mapped one. */
  execution: string
  attempt: number
  tool: string
  label: string
  value: unknown
}

/** What was done, in order. */
export interface Effects {
  add(effect: Effect): void
  all(): readonly Effect[]
}

/** Effects that last as long as this process. */
export function memoryEffects(): Effects {
  const done: Effect[] = []
  return { add: (effect) => void done.push(effect), all: () => done }
}

/** Effects as lines of a file: each is on the disk when `add` returns, and several processes may add. */
export function fileEffects(path: string): Effects {
  return {
    add: (effect) => addLine(path, effect),
    all: () => linesOf(path) as Effect[],
  }
}
