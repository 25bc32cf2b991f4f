import { ByrefError, errorMessage } from '../core/errors.ts'
import { warn } from '../core/in-background.ts'
import { isPlainObject } from '../core/json/json.ts'
import { type CallOutcome, type Policy, VERDICTS, type Verdict } from './policy.ts'

const OUTCOME = 'an outcome: { value, events } or { error: { code, message }, events }'
const DECISION = '{ decision: "allow" | "ask" | "deny", reason? } or nothing'

/**
 * Returns a policy of the app whose results are checked. An error of a hook becomes a ByrefError with the name of the
 * hook, without the words of the error, because the model reads it. The developer gets them as a process warning. A
 * ByrefError that the hook throws stays as it is.
 *
 * @param name The place of the policy in the options of the agent: `policies[0]`.
 */
export function appPolicy(policy: Policy, name: string): Policy {
  const { looksAt, before, after, aroundCall, aroundStep } = policy
  const own: Policy = {}
  const looks: NonNullable<Policy['looksAt']> = (tool) => looksAt?.call(policy, tool) ?? true
  if (looksAt) {
    own.looksAt = (tool) => {
      try {
        return looks(tool)
      } catch {
        // `before` throws the error again, and the call fails.
        return true
      }
    }
  }
  if (before) {
    own.before = async (call, soFar) => {
      const denied = notMade(name)
      if (!(await guarded(denied('looksAt'), () => looks(call.tool)))) return undefined
      const value = await guarded(denied('before'), () => before.call(policy, call, soFar))
      if (value === undefined || value === null || isVerdict(value)) return value ?? undefined
      throw invalid('call_denied', { hook: `${name}.before`, expected: DECISION, value })
    }
  }
  if (after) {
    own.after = async (call, outcome, item) => {
      const hook = `${name}.after`
      const value = await guarded(failed(hook), () => after.call(policy, call, outcome, item))
      if (value === undefined || value === null || isOutcome(value)) return value ?? undefined
      throw invalid('tool_failed', { hook, expected: `${OUTCOME}, or nothing`, value })
    }
  }
  if (aroundCall) {
    own.aroundCall = async (execution, perform) => {
      const hook = `${name}.aroundCall`
      const { noted, has } = notedErrors(perform)
      const failure: Failure = (error) =>
        has(error) || execution.signal.aborted ? null : failed(hook)(error)
      const value = await guarded(failure, () => aroundCall.call(policy, execution, noted))
      if (isOutcome(value)) return value
      throw invalid('tool_failed', { hook, expected: OUTCOME, value })
    }
  }
  if (aroundStep) {
    own.aroundStep = async (step, perform) => {
      const hook = `${name}.aroundStep`
      const { noted, has } = notedErrors(perform)
      const failure: Failure = (error) =>
        has(error) || step.signal.aborted
          ? null
          : new ByrefError('run_failed', `${hook} failed: ${errorMessage(error)}`, { cause: error })
      const value = await guarded(failure, () => aroundStep.call(policy, step, noted))
      if (isPlainObject(value) && isPlainObject(value.usage) && 'finishReason' in value)
        return value as Awaited<ReturnType<typeof perform>>
      throw invalid('run_failed', { hook, expected: 'what perform() resolves to', value })
    }
  }
  return own
}

/** Returns the error to throw in place of a hook's; null to throw the hook's own. */
type Failure = (error: unknown) => ByrefError | null

async function guarded<T>(failure: Failure, hook: () => T | Promise<T>): Promise<T> {
  try {
    return await hook()
  } catch (error) {
    throw (error instanceof ByrefError ? null : failure(error)) ?? error
  }
}

function notMade(name: string): (hook: string) => Failure {
  return (hook) => (error) => {
    warn(`${name}.${hook} failed: ${errorMessage(error)}`, error)
    return new ByrefError('call_denied', `The call was denied: ${name}.${hook} failed`)
  }
}

function failed(hook: string): Failure {
  return (error) => {
    warn(`${hook} failed: ${errorMessage(error)}`, error)
    return new ByrefError(
      'tool_failed',
      `${hook} failed. The tool may or may not have taken effect. Check before you repeat it.`,
    )
  }
}

/** Returns the function, and whether an error is one that it rejected with. */
function notedErrors<Args extends unknown[], T>(perform: (...args: Args) => Promise<T>) {
  const errors = new Set<unknown>()
  const noted = async (...args: Args): Promise<T> => {
    try {
      return await perform(...args)
    } catch (error) {
      errors.add(error)
      throw error
    }
  }
  return { noted, has: (error: unknown) => errors.has(error) }
}

function invalid(
  code: 'call_denied' | 'tool_failed' | 'run_failed',
  { hook, expected, value }: { hook: string; expected: string; value: unknown },
): ByrefError {
  // The model reads this: it must not contain what the hook returned.
  const message = `${hook} must return ${expected}. It returned ${describe(value)}`
  if (code !== 'run_failed') warn(message, value)
  return new ByrefError(code, message)
}

function describe(value: unknown): string {
  if (value === null || value === undefined || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object of another form' : `a ${typeof value}`
}

function isVerdict(value: unknown): value is Verdict {
  if (!isPlainObject(value) || !VERDICTS.some((one) => one === value.decision)) return false
  const { decision: _, reason, ...unknown } = value
  const isReason = reason === undefined || typeof reason === 'string'
  return isReason && Object.keys(unknown).length === 0
}

function isOutcome(value: unknown): value is CallOutcome {
  if (!isPlainObject(value) || !Array.isArray(value.events)) return false
  const { error } = value
  if (error === undefined) return 'value' in value
  return isPlainObject(error) && typeof error.code === 'string' && typeof error.message === 'string'
}
