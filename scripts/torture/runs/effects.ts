import { addLine, linesOf } from './lines.ts'

/** An effect of a tool on the world outside of the log. */
export interface Effect {
  conversation: string
  /** The call's id, with the index of the item for a mapped one. */
  execution: string
  attempt: number
  tool: string
  label: string
  value: unknown
}

/** The effects in order. */
export interface Effects {
  add(effect: Effect): void
  all(): readonly Effect[]
}

/** Effects in the memory of this process. */
export function memoryEffects(): Effects {
  const done: Effect[] = []
  return { add: (effect) => void done.push(effect), all: () => done }
}

/** Effects as lines of a file: each is on the disk when `add` returns, and several processes can add. */
export function fileEffects(path: string): Effects {
  return {
    add: (effect) => addLine(path, effect),
    all: () => linesOf(path) as Effect[],
  }
}
