import { isPlainJson } from '../../assets/extract/may-hold-assets.ts'
import { boundaryOf } from '../../boundary/boundary.ts'
import type { CallPlan } from '../../boundary/call-plan.ts'
import type { Tool, ToolContext } from '../../boundary/tool.ts'
import type { ConversationEvent } from '../../core/events/events.ts'
import type { CallItem, CallOutcome, ExecutionChanges, PolicyCall } from '../../policies/policy.ts'
import { type RunScope, workOf } from '../run-scope.ts'
import { callError } from './call-error.ts'
import { lastYield } from './last-yield.ts'
import { openContext } from './tool-context.ts'
import { unlessAborted } from './unless-aborted.ts'

/** One execution of a tool: of a call, or of an item of a mapped one. */
export interface ExecutedCall {
  plan: CallPlan
  call: PolicyCall
  item: CallItem
  /** The call's id, with the item's index for a mapped one. */
  toolCallId: string
  /** The number of the first attempt here, from 1. */
  attempt: number
  /** Logs the beginning of an attempt. */
  begin(attempt: number): Promise<void>
}

/**
 * Executes a call, within the agent's policies: values of asset references become input, the tool works, its bytes become
 * assets. A failure of the tool is an outcome, for the model to see.
 *
 * @throws the signal's reason, where the run is over; what a policy throws
 */
export function executeCall(scope: RunScope, executed: ExecutedCall): Promise<CallOutcome> {
  const { aroundCall } = scope.settings.policy
  const perform = async (changes: ExecutionChanges = {}): Promise<CallOutcome> => {
    const { attempt = executed.attempt } = changes
    await executed.begin(attempt)
    return execute(scope, { ...executed, attempt }, changes)
  }
  if (!aroundCall) return scope.during(perform)
  const { plan, call, item, toolCallId, attempt } = executed
  const tool = plan.tool as Tool
  const execution = { ...workOf(scope), ...item, call, tool, toolCallId, attempt }
  return scope.during(() => aroundCall(execution, perform))
}

async function execute(
  scope: RunScope,
  { plan, item, toolCallId, attempt }: ExecutedCall,
  changes: ExecutionChanges,
): Promise<CallOutcome> {
  const tool = plan.tool as Tool
  const { signal = scope.signal, label, onRead, trust } = changes
  const maker = { by: 'tool', tool: tool.id, toolCallId } as const
  const events: ConversationEvent[] = []
  const onEvent = (event: ConversationEvent): void => {
    events.push(event)
  }
  const assets = once(() => {
    const scoped = scope.assets.scoped({ ...maker, onEvent, ...(label ? { label } : {}) })
    return changes.assets?.(scoped, events) ?? scoped
  })
  const parts = { plan, toolCallId, attempt, signal, assets, events, onRead, trust }
  const { context, end, chosen } = openContext(scope, parts)
  const boundary = boundaryOf(() => scope.assets)
  try {
    const result = await unlessAborted(signal, () =>
      boundary.withInput({ tool, arguments: item.arguments }, (input) => {
        changes.onInput?.(input)
        const onYield = (value: unknown) => showPreliminary(context, value)
        return lastYield(tool.execute(input, context), { signal, onYield })
      }),
    )
    if (isPlainJson(result)) return { value: result, events, chosen: chosen() }
    const storing = { tool: tool.id, toolCallId, signal, label, onEvent }
    const stored = await unlessAborted(signal, () => boundary.store(storing, result))
    return { value: stored.value, events, chosen: chosen() }
  } catch (error) {
    scope.signal.throwIfAborted()
    return { error: callError(error), events, chosen: chosen() }
  } finally {
    end()
  }
}

/** Maximum characters of a preliminary result that people are shown. */
const MAX_PRELIMINARY = 1000

/** Shows a preliminary result as progress. One with bytes is not shown: its bytes have no reference yet. */
function showPreliminary({ progress }: ToolContext, value: unknown): void {
  if (value === undefined || !isPlainJson(value)) return
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  progress(text.slice(0, MAX_PRELIMINARY))
}

/** Called when it is first needed: many calls have nothing to do with assets. */
function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}
