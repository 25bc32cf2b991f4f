const NOTHING = (): unknown => null
const held = { work: NOTHING }

type Run = (options: { timeout: number }) => unknown
let run: Run | null = null

/** Returns what runs the work in {@link held}. Only Node can stop it. */
function runner(): Run {
  const vm = globalThis.process?.getBuiltinModule?.('node:vm')
  if (!vm) return () => held.work()
  const script = new vm.Script('work()')
  const context = vm.createContext(held)
  return (options) => script.runInContext(context, options)
}

/**
 * Runs work that must not take long, such as an expression that a person wrote, and stops it after a time. Costs about
 * 0.1 ms. Returns null if it was stopped. In browsers, nothing is stopped.
 *
 * @param work Must be repeatable: if it was stopped because the machine was busy, it starts again with twice the time.
 */
export function withinTime<T extends object>(ms: number, work: () => T): T | null {
  run ??= runner()
  // Before Node 23.9, the time of other threads counts, too.
  const cpuUsage = globalThis.process?.threadCpuUsage ?? globalThis.process?.cpuUsage
  for (let timeout = ms; ; timeout *= 2) {
    held.work = work
    const before = cpuUsage?.()
    try {
      return run({ timeout }) as T
    } catch (error) {
      if (Object(error).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
      const { user } = cpuUsage(before)
      if (user / 1_000 >= ms / 2) return null
    } finally {
      // The work may hold large values.
      held.work = NOTHING
    }
  }
}
