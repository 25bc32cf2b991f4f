import type { Tool } from '../../boundary/tool.ts'
import type { ConversationEvent } from '../../core/events/events.ts'
import { type WrittenLabel, writeLabel } from '../../core/labels/label.ts'
import { type LabelTree, wholeOf } from '../../core/labels/label-tree.ts'
import type { CallOutcome } from '../../engine/calls/call-outcome.ts'
import type { Execution } from '../../engine/calls/execution.ts'
import type { RunScope } from '../../engine/run-scope.ts'
import { closedBits, isAskAbout, isClosedAnswer } from './closed-answers.ts'
import { type NotedReads, noteReads } from './note-reads.ts'
import { labelledAssets, resultLabels } from './result-labels.ts'

/** Follows one execution, for the labels of what comes of it. */
export interface LabelExecution {
  reads: NotedReads
  /** Of what is saved meanwhile, as far as that is known. */
  saved(): WrittenLabel
  /** The tool is given its input. */
  begin(input: unknown): void
  /** The outcome with its labels, and its assets with theirs. */
  end(outcome: CallOutcome): CallOutcome
}

/** Begins to follow; null where trust is off. */
export function labelExecution(
  scope: RunScope,
  execution: Execution,
  events: readonly ConversationEvent[],
): LabelExecution | null {
  const { plan, labels: given } = execution
  const { labels } = scope.session
  if (!labels || !given) return null
  const { all } = given
  const reads = noteReads(labels, events, { instance: plan.instance, given: all })
  let begun: { input: unknown } | null = null

  const treeOf = (outcome?: CallOutcome): LabelTree => {
    // What fails before the tool has begun says nothing but what the call was given.
    if (!begun) return { label: all }
    const about = { tool: plan.tool as Tool, callId: plan.id, input: begun.input }
    const from = { ...about, given: all, read: reads.label() }
    if (outcome && 'value' in outcome)
      return resultLabels(labels, { ...from, result: outcome.value })
    // Any part of what it worked with may be in the words that it fails with.
    return { label: wholeOf(resultLabels(labels, from)) }
  }

  return {
    reads,
    saved: () => writeLabel(wholeOf(treeOf())),
    begin(input) {
      begun = { input }
    },
    end(outcome) {
      const tree = treeOf(outcome)
      const events = labelledAssets(outcome.events, tree, { label: wholeOf(tree) })
      return declassified(scope, execution, { ...outcome, events, labels: tree })
    },
  }
}

/** What runs have promised to show, logged or on its way. */
const promised = new WeakMap<object, Map<string, number>>()

/**
 * An answer about what is untrusted, which the model may be shown where it is closed and within the budget of its run
 * (spec Q5): then the log says so with it. Any other outcome stays what it is.
 */
function declassified(
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
function promise({ session, runId }: RunScope, bits: number, budget: number): boolean {
  const runs = promised.get(session) ?? new Map<string, number>()
  promised.set(session, runs)
  const before = Math.max(runs.get(runId) ?? 0, session.labels?.declassified(runId) ?? 0)
  if (before + bits > budget) return false
  runs.set(runId, before + bits)
  return true
}
