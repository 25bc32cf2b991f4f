import { ByrefError, errorMessage } from '../core/errors.ts'
import { warn } from '../core/in-background.ts'
import { isPlainObject } from '../core/json/json.ts'
import { type CallOutcome, type Policy, VERDICTS, type Verdict } from './policy.ts'

const OUTCOME = 'an outcome: { value, events } or { error: { code, message }, events }'
const DECISION = '{ decision: "allow" | "ask" | "deny", reason? } or nothing'

/**
 * Wraps a policy of the app, and checks the results of its hooks. If a hook throws, the model reads a ByrefError that
 * names the hook, but not the error's message, which the process emits as a warning. A ByrefError that the hook throws
 * is passed on.
 *
 * @param name The place of the policy in the options of the agent: `policies[0]`.
 */
export function appPolicy(policy: Policy, name: string): Policy {
  const { checks, before, after, aroundCall, aroundStep } = policy
  const checked: Policy = {}
  const isChecked: NonNullable<Policy['checks']> = (tool) => checks?.call(policy, tool) ?? true
  if (checks) {
    checked.checks = (tool) => {
      try {
        return isChecked(tool)
      } catch {
        // `before` throws the error again, and the call fails.
        return true
      }
    }
  }
  if (before) {
    checked.before = async (call, soFar) => {
      const denied = deniedBy(name)
      if (!(await guarded(denied('checks'), () => isChecked(call.tool)))) return undefined
      const value = await guarded(denied('before'), () => before.call(policy, call, soFar))
      if (value === undefined || value === null || isVerdict(value)) return value ?? undefined
      throw invalid('call_denied', { hook: `${name}.before`, expected: DECISION, value })
    }
  }
  if (after) {
    checked.after = async (call, outcome, item) => {
      const hook = `${name}.after`
      const value = await guarded(failed(hook), () => after.call(policy, call, outcome, item))
      if (value === undefined || value === null || isOutcome(value)) return value ?? undefined
      throw invalid('tool_failed', { hook, expected: `${OUTCOME}, or nothing`, value })
    }
  }
  if (aroundCall) {
    checked.aroundCall = async (execution, perform) => {
      const hook = `${name}.aroundCall`
      const { tracked, has } = trackErrors(perform)
      const failure: Failure = (error) =>
        has(error) || execution.signal.aborted ? null : failed(hook)(error)
      const value = await guarded(failure, () => aroundCall.call(policy, execution, tracked))
      if (isOutcome(value)) return value
      throw invalid('tool_failed', { hook, expected: OUTCOME, value })
    }
  }
  if (aroundStep) {
    checked.aroundStep = async (step, perform) => {
      const hook = `${name}.aroundStep`
      const { tracked, has } = trackErrors(perform)
      const failure: Failure = (error) =>
        has(error) || step.signal.aborted
          ? null
          : new ByrefError('run_failed', `${hook} failed: ${errorMessage(error)}`, { cause: error })
      const value = await guarded(failure, () => aroundStep.call(policy, step, tracked))
      if (isPlainObject(value) && isPlainObject(value.usage) && 'finishReason' in value)
        return value as Awaited<ReturnType<typeof perform>>
      throw invalid('run_failed', { hook, expected: 'what perform() resolves to', value })
    }
  }
  return checked
}

/** Returns the error to throw in place of a hook's error; null to throw the hook's own. */
type Failure = (error: unknown) => ByrefError | null

async function guarded<T>(failure: Failure, hook: () => T | Promise<T>): Promise<T> {
  try {
    return await hook()
  } catch (error) {
    throw (error instanceof ByrefError ? null : failure(error)) ?? error
  }
}

function deniedBy(name: string): (hook: string) => Failure {
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

/** Wraps `perform`. `has` tells whether an error came from it, and not from the policy. */
function trackErrors<Args extends unknown[], T>(perform: (...args: Args) => Promise<T>) {
  const errors = new Set<unknown>()
  const tracked = async (...args: Args): Promise<T> => {
    try {
      return await perform(...args)
    } catch (error) {
      errors.add(error)
      throw error
    }
  }
  return { tracked, has: (error: unknown) => errors.has(error) }
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
