import { ByrefError } from '../core/errors.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import { onAbort } from '../core/on-abort.ts'
import { startLimit } from '../core/timer.ts'
import { nodeBuiltin } from '../node-builtin.ts'
import type { Policy } from './policy.ts'

const { setTimeout: sleep } = nodeBuiltin('node:timers/promises')

const FIRST_PAUSE_MS = 250

/** Error codes of failures that a retry cannot fix. */
const FINAL: ReadonlySet<string> = new Set([
  'invalid_arguments',
  'asset_not_found',
  'field_not_found',
  'variable_not_found',
  'invalid_reference',
])

/** Retries a failed execution up to `retries` times, with pauses of 0.25 s, 0.5 s, 1 s and so on. */
export const retryPolicy: Policy = {
  async aroundCall({ tool, attempt, signal }, perform) {
    const { retries = 0 } = tool
    if (retries === 0) return perform()
    const usage: ConversationEvent[] = []
    for (let tries = 0; ; tries++) {
      const outcome = await perform({ attempt: attempt + tries })
      if (!outcome.error || tries >= retries || FINAL.has(outcome.error.code))
        return usage.length > 0 ? { ...outcome, events: [...usage, ...outcome.events] } : outcome
      usage.push(...outcome.events.filter(({ type }) => type === 'TOOL_USAGE'))
      await sleep(FIRST_PAUSE_MS * 2 ** tries, undefined, { signal })
    }
  },
}

/** Asks a person before a call of a tool with `needsApproval`. The person sees the arguments that would run. */
export const approvalPolicy: Policy = {
  checks: ({ needsApproval }) => Boolean(needsApproval),
  async before({ tool, items, isResumed, withInput }) {
    const { needsApproval } = tool
    if (!needsApproval || isResumed) return undefined
    if (typeof needsApproval !== 'function') return { decision: 'ask' }
    const answers = await Promise.all(items.map((item) => withInput(item, needsApproval)))
    return answers.some(Boolean) ? { decision: 'ask' } : undefined
  },
}

/**
 * Aborts an execution that exceeds its tool's `timeoutMs`, or else the agent's `limits.callTimeoutMs`. The time in which
 * a sub-agent waits for a person does not count.
 */
export function timeLimitPolicy(callTimeoutMs: number): Policy {
  return {
    async aroundCall({ tool, signal }, perform) {
      const ms = tool.timeoutMs ?? callTimeoutMs
      if (ms === Infinity) return perform()
      const controller = new AbortController()
      const message = `The tool "${tool.id}" timed out after ${ms} ms`
      // `onAbort` throws if the run is over, so the limit starts after it.
      const unsubscribe = onAbort(signal, (reason) => controller.abort(reason))
      let isCounted = true
      const stop = startLimit(
        ms,
        () => controller.abort(new ByrefError('tool_timeout', message)),
        () => isCounted,
      )
      try {
        return await perform({
          signal: controller.signal,
          onWaiting(isWaiting) {
            isCounted = !isWaiting
          },
        })
      } finally {
        stop()
        unsubscribe()
      }
    },
  }
}
