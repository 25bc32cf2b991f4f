import type { CallPlan } from '../../boundary/call-plan.ts'
import type { CallState, ItemState } from '../../core/events/conversation-state.ts'
import type { CallError } from '../../core/events/events.ts'
import type { JsonValue } from '../../core/json/json.ts'
import { itemCallId } from '../../core/refs/item-call.ts'
import { type CallOutcome, provenanceOf } from '../../policies/policy.ts'
import type { RunScope } from '../run-scope.ts'
import { type ActiveCall, applyAfter, type Item } from './active-call.ts'
import { executeCall } from './execute-call.ts'

/**
 * Runs a mapped call. Each item is started and logged separately, so that after a crash the call continues with the
 * remaining items. Its value is the list of results in the order of the items. A failed item is `{ index, error }`.
 */
export async function runMapped(
  scope: RunScope,
  call: ActiveCall,
  items: readonly Item[],
): Promise<CallOutcome> {
  const { state, toolCallId } = call
  if (!state.attempts) {
    const started = { toolCallId, runId: scope.runId, attempt: 1, items: items.length }
    await scope.append({ events: [{ type: 'TOOL_STARTED', ...started }] })
  }
  const results = await Promise.all(
    items.map(async (item, index) => {
      const logged = state.items?.[index]
      if (logged?.done) return resultOf(logged, index)
      const outcome = await runItem(scope, call, { item, index, state })
      const adjusted = await applyAfter(scope, call, outcome, index)
      return resultOf(await logItem(scope, toolCallId, index, adjusted), index)
    }),
  )
  return { events: [], value: results }
}

/** Returns the entry for an item in the list of results. */
function resultOf({ value, error }: Partial<ItemState>, index: number): unknown {
  return error ? { index, error } : (value ?? null)
}

/** Logs the outcome of an item. */
async function logItem(
  scope: RunScope,
  toolCallId: string,
  item: number,
  outcome: CallOutcome,
): Promise<Partial<ItemState>> {
  const { value, error, events } = outcome
  const end = error ? { error } : { value: value as JsonValue }
  const ended = { toolCallId, runId: scope.runId, item, ...end, ...provenanceOf(outcome) }
  await scope.append({ events: [...events, { type: 'TOOL_FINISHED', ...ended }] })
  return end
}

async function runItem(
  scope: RunScope,
  call: ActiveCall,
  { item, index, state }: { item: Item; index: number; state: CallState },
): Promise<CallOutcome> {
  const { plan, tool } = call
  if (item.error) return { events: [], error: item.error, source: item.source }
  const attempts = state.items?.[index]?.attempts ?? 0
  if (attempts > 0 && !tool.idempotent) return { events: [], error: interrupted(plan) }
  const { runId, slots } = scope
  const toolCallId = itemCallId(plan.id, index)
  await slots.take()
  try {
    const executed = await executeCall(scope, {
      call,
      item,
      toolCallId,
      attempt: attempts + 1,
      begin: (attempt) =>
        scope.append({
          events: [{ type: 'TOOL_STARTED', toolCallId: plan.id, runId, item: index, attempt }],
        }),
    })
    if (executed.error) return executed
    const storing = { tool: tool.id, toolCallId, maxResultChars: tool.maxResultChars }
    return await scope.during(() => scope.boundary.offload(storing, executed))
  } finally {
    slots.free()
  }
}

/** Returns the error for an execution whose outcome is unknown, because its process ended. */
export function interrupted({ name, tool }: CallPlan): CallError {
  const hint = tool ? '' : ' (the tool no longer exists)'
  return {
    code: 'interrupted',
    message: `The call to "${name}" was interrupted${hint}. It may or may not have taken effect. Check before you repeat it.`,
  }
}
