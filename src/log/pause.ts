import { nodeBuiltin } from '../node-builtin.ts'

const { setImmediate: nextTurn } = nodeBuiltin('node:timers/promises')

/** Number of records that are processed before other work gets a turn. */
export const CHUNK = 500

/** Gives other work in this process a turn. */
export async function pause(): Promise<void> {
  await nextTurn()
}
