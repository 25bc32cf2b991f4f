import { nodeBuiltin } from '../node-builtin.ts'

const { setImmediate } = nodeBuiltin('node:timers/promises')

/** Milliseconds of work before other tasks of the event loop run. */
const TURN_MS = 8

/** Yields to the event loop when the work has taken long. */
export function createPauses(): () => Promise<void> | undefined {
  let since = performance.now()
  return () => {
    if (performance.now() - since < TURN_MS) return undefined
    return setImmediate().then(() => {
      since = performance.now()
    })
  }
}
