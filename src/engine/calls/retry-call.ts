import type { CallPlan } from '../../boundary/call-plan.ts'
import type { ConversationEvent } from '../../core/events/events.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import type { RunScope } from '../run-scope.ts'
import type { CallOutcome } from './call-outcome.ts'

const { setTimeout: sleep } = nodeBuiltin('node:timers/promises')

const FIRST_PAUSE_MS = 250

/** Executes, and again while it fails and its tool has retries. `begun` is how often it was begun before. */
export async function withRetries<T extends CallOutcome>(
  { signal, during }: RunScope,
  { tool }: CallPlan,
  begun: number,
  execute: (attempt: number) => Promise<T>,
): Promise<T> {
  const { retries = 0 } = tool ?? {}
  const used: ConversationEvent[] = []
  for (let tries = 0; ; tries++) {
    const outcome = await execute(begun + tries + 1)
    if (!('error' in outcome) || tries >= retries || FINAL.has(outcome.error.code))
      return used.length > 0 ? { ...outcome, events: [...used, ...outcome.events] } : outcome
    used.push(...outcome.events.filter(({ type }) => type === 'TOOL_USAGE'))
    await during(() => sleep(FIRST_PAUSE_MS * 2 ** tries, undefined, { signal }))
  }
}

/** What is the same however often it is tried. */
const FINAL: ReadonlySet<string> = new Set([
  'invalid_arguments',
  'asset_not_found',
  'field_not_found',
  'variable_not_found',
  'invalid_reference',
])
