import type { ConversationEvent } from '../../content/events.ts'
import { wholeOf } from '../../content/label-tree.ts'
import type { CallOutcome } from '../calls/call-outcome.ts'
import type { Execution } from '../calls/execution.ts'
import type { RunScope } from '../run-scope.ts'
import type { Tool } from '../tools/tool.ts'
import { closedBits, isAskAbout, isClosedAnswer } from './ask-about.ts'

/** What runs have promised to show, logged or on its way. */
const promised = new WeakMap<object, Map<string, number>>()

/**
 * An answer about what is untrusted, which the model may be shown where it is closed and within the budget of its run
 * (spec Q5): then the log says so with it. Any other outcome stays what it is.
 */
export function declassified(
  scope: RunScope,
  { plan, labels: given }: Execution,
  outcome: CallOutcome,
): CallOutcome {
  const { trust } = scope.settings
  if (trust?.mode !== 'quarantine' || !isAskAbout(plan.tool as Tool)) return outcome
  if ('error' in outcome || !outcome.labels || given?.context.integrity !== 'trusted')
    return outcome
  const label = wholeOf(outcome.labels)
  const { question, schema } = plan.arguments
  const bits = closedBits(schema)
  if (label.integrity === 'trusted' || bits === null) return outcome
  if (!isClosedAnswer(schema, outcome.value)) return outcome
  if (!promise(scope, bits, trust.budgetBits)) return outcome
  const said: ConversationEvent = {
    type: 'DECLASSIFIED',
    toolCallId: plan.id,
    runId: scope.runId,
    bits,
    question: String(question),
  }
  return {
    ...outcome,
    events: [...outcome.events, said],
    labels: { label: { ...label, integrity: 'trusted' } },
  }
}

/** Takes bits from a run's budget; false where there are not so many left. */
function promise({ thread, runId }: RunScope, bits: number, budget: number): boolean {
  const runs = promised.get(thread) ?? new Map<string, number>()
  promised.set(thread, runs)
  const before = Math.max(runs.get(runId) ?? 0, thread.labels?.declassified(runId) ?? 0)
  if (before + bits > budget) return false
  runs.set(runId, before + bits)
  return true
}
