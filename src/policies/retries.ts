import type { ConversationEvent } from '../core/events/events.ts'
import { nodeBuiltin } from '../node-builtin.ts'
import type { Policy } from './policy.ts'

const { setTimeout: sleep } = nodeBuiltin('node:timers/promises')

const FIRST_PAUSE_MS = 250

/** Errors that another attempt would meet again. */
const FINAL: ReadonlySet<string> = new Set([
  'invalid_arguments',
  'asset_not_found',
  'field_not_found',
  'variable_not_found',
  'invalid_reference',
])

/** Tries a failed execution again, as often as its tool's `retries` says, after 0.25 s, 0.5 s, 1 s … */
export const retryPolicy: Policy = {
  async aroundCall({ tool, attempt, signal }, perform) {
    const { retries = 0 } = tool
    if (retries === 0) return perform()
    const used: ConversationEvent[] = []
    for (let tries = 0; ; tries++) {
      const outcome = await perform({ attempt: attempt + tries })
      if (!outcome.error || tries >= retries || FINAL.has(outcome.error.code))
        return used.length > 0 ? { ...outcome, events: [...used, ...outcome.events] } : outcome
      used.push(...outcome.events.filter(({ type }) => type === 'TOOL_USAGE'))
      await sleep(FIRST_PAUSE_MS * 2 ** tries, undefined, { signal })
    }
  },
}
