import { ByrefError } from '../core/errors.ts'
import { onAbort } from '../models/on-abort.ts'
import type { Policy } from './policy.ts'

/** Aborts an execution that takes longer than its tool's `timeoutMs`, or than the agent's `limits.callTimeoutMs`. */
export function timeLimitPolicy(callTimeoutMs: number): Policy {
  return {
    async aroundCall({ tool, signal }, perform) {
      const ms = tool.timeoutMs ?? callTimeoutMs
      if (ms === Infinity) return perform()
      const controller = new AbortController()
      const message = `The tool "${tool.id}" took longer than ${ms} ms and was given up`
      const timer = setTimeout(() => controller.abort(new ByrefError('tool_timeout', message)), ms)
      const forget = onAbort(signal, (reason) => controller.abort(reason))
      try {
        return await perform({ signal: controller.signal })
      } finally {
        clearTimeout(timer)
        forget()
      }
    },
  }
}
