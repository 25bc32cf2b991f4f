import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'

/** Something that a tool did in the world, outside of any log. */
export interface Effect {
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
    add(effect) {
      const file = openSync(path, 'a')
      writeSync(file, `${JSON.stringify(effect)}\n`)
      fsyncSync(file)
      closeSync(file)
    },
    all() {
      const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
      return text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    },
  }
}
