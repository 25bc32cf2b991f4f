import { warn } from '../in-background.ts'

/** Maximum time of all slow patterns of one value, in milliseconds, and what is left of it. */
const PATTERN_MS = 200
let left = PATTERN_MS

/** Begins a value: its patterns get the whole time. */
export function startPatterns(): void {
  left = PATTERN_MS
}

/**
 * Makes the expression of a schema's pattern. Schemas may come from people and servers, and an expression may take years
 * for some texts. One that takes too long does not match. Browsers have no time limit.
 */
export function timedPattern(source: string, flags: string) {
  const expression = new RegExp(source, flags)
  const repetitions = source.match(/[*+?]|\{\d+,/g)?.length ?? 0
  const isSimple = repetitions === 0 || (repetitions === 1 && !source.includes('|'))
  const isFast = ({ length }: string) => length <= 20 || (isSimple && length <= 1_000)
  return {
    test: (text: string) => (isFast(text) ? expression.test(text) : testInTime(expression, text)),
    toString: () => String(expression),
  }
}

const tested = { expression: /a/, text: '' }

type Run = (options: { timeout: number }) => boolean
let run: Run | null = null

/** Returns what tests the text in {@link tested}. With Node, it costs about 0.1 ms more, and can be stopped. */
function runner(): Run {
  const vm = globalThis.process?.getBuiltinModule?.('node:vm')
  if (!vm) return () => tested.expression.test(tested.text)
  const script = new vm.Script('expression.test(text)')
  const context = vm.createContext(tested)
  return (options) => script.runInContext(context, options)
}

function testInTime(expression: RegExp, text: string): boolean {
  if (left < 1) return false
  run ??= runner()
  Object.assign(tested, { expression, text })
  const start = performance.now()
  try {
    return run({ timeout: Math.floor(left) })
  } catch (error) {
    if (Object(error).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    warn(
      `A pattern of a schema was stopped, because it took too long, so it does not match: ${expression}`,
    )
    return false
  } finally {
    const took = performance.now() - start
    if (took > 1) left -= took
  }
}
