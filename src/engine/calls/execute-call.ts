import { isPlainJson } from '../../assets/extract/may-hold-assets.ts'
import { storedResult } from '../../boundary/stored-result.ts'
import type { Tool, ToolContext } from '../../boundary/tool.ts'
import { withInput } from '../../boundary/with-input.ts'
import type { ConversationEvent } from '../../core/events/events.ts'
import { type LabelExecution, labelExecution } from '../../policies/trust/label-execution.ts'
import { type RunScope, workOf } from '../run-scope.ts'
import { callError } from './call-error.ts'
import type { CallOutcome } from './call-outcome.ts'
import type { Execution } from './execution.ts'
import { lastYield } from './last-yield.ts'
import { openContext } from './tool-context.ts'
import { unlessAborted } from './unless-aborted.ts'

/**
 * Executes: references to assets become their values, the input is checked, the tool works, its bytes become assets.
 * Whatever fails in it is the outcome, for the model to see.
 *
 * @throws the signal's reason, where the run is over
 */
export function executeCall(scope: RunScope, execution: Execution): Promise<CallOutcome> {
  const { aroundCall } = scope.settings.around
  const perform = (): Promise<CallOutcome> => execute(scope, execution)
  if (!aroundCall) return scope.during(perform)
  const { plan, ...rest } = execution
  const work = { ...workOf(scope), ...rest, tool: plan.tool as Tool }
  return scope.during(() => aroundCall(work, perform))
}

async function execute(scope: RunScope, execution: Execution): Promise<CallOutcome> {
  const { plan, toolCallId } = execution
  const tool = plan.tool as Tool
  const maker = { by: 'tool', tool: tool.id, toolCallId } as const
  const events: ConversationEvent[] = []
  const onEvent = (event: ConversationEvent): void => {
    events.push(event)
  }
  const labelling = labelExecution(scope, execution, events)
  const label = labelling ? { label: labelling.saved } : {}
  const assets = once(() => scope.assets.scoped({ ...maker, onEvent, ...label }))
  const own = labelling ? once(() => labelling.reads.assets(assets())) : assets
  const opened = openContext(scope, execution, {
    ...{ assets: own, events },
    reads: labelling?.reads ?? null,
  })
  const { context, signal, end, chosen } = opened
  try {
    const given = { args: execution.arguments, assets }
    const result = await unlessAborted(signal, () =>
      withInput(tool, given, (input) => {
        labelling?.begin(input)
        const onYield = (value: unknown) => showPreliminary(context, value)
        return lastYield(tool.execute(input, context), { signal, onYield })
      }),
    )
    if (isPlainJson(result)) return ended({ value: result, events, chosen: chosen() }, labelling)
    const value = await unlessAborted(signal, () =>
      storedResult(result, { assets: assets(), signal, ...maker }),
    )
    return ended({ value, events, chosen: chosen() }, labelling)
  } catch (error) {
    scope.signal.throwIfAborted()
    return ended({ error: callError(error), events, chosen: chosen() }, labelling)
  } finally {
    end()
  }
}

/** Characters of a preliminary result that people are shown. */
const MAX_PRELIMINARY = 1000

/** A preliminary result is progress. One with bytes is not shown: its bytes have no reference yet. */
function showPreliminary({ progress }: ToolContext, value: unknown): void {
  if (value === undefined || !isPlainJson(value)) return
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  progress(text.slice(0, MAX_PRELIMINARY))
}

/** The outcome with its labels, where there are any. */
function ended(outcome: CallOutcome, labelling: LabelExecution | null): CallOutcome {
  return labelling ? labelling.end(outcome) : outcome
}

/** Made when it is first asked for: many calls have nothing to do with assets. */
function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}
