import { nodeBuiltin } from '../node-builtin.ts'

const { setImmediate: nextTurn } = nodeBuiltin('node:timers/promises')

/** How many records are worked on at once, before others get their turn. */
export const CHUNK = 500

/** Lets everything else that waits in this process have its turn. */
export async function pause(): Promise<void> {
  await nextTurn()
}
