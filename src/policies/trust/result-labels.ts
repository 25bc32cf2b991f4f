import type { CallPlan } from '../../boundary/call-plan.ts'
import type { Tool } from '../../boundary/tool.ts'
import type { ConversationEvent } from '../../core/events/events.ts'
import { joinAll, type Label, madeBy, TRUSTED, UNTRUSTED } from '../../core/labels/label.ts'
import {
  joinLabel,
  joinTrees,
  type LabelTree,
  mapLabels,
  readLabelTree,
  treeAt,
  writeLabelTree,
} from '../../core/labels/label-tree.ts'
import type { Labels } from '../../core/labels/labels.ts'
import { fromPointer } from '../../core/refs/json-pointer.ts'
import type { CallOutcome } from '../../engine/calls/call-outcome.ts'
import { callLabels } from './call-labels.ts'

/** What the labels of a result are made of. */
export interface LabelledResult {
  tool: Tool
  /** The call, without an item's index. */
  callId: string
  input: unknown
  /** Absent where the tool failed. */
  result?: unknown
  /** Of everything that it was given. */
  given: Label
  /** Of what it read by itself. */
  read: Label
}

/**
 * The labels of what a tool gave (spec Q3): its own, joined with those of everything that it was given and read. One that
 * acts may keep what it is given, and give it back later (Q7).
 */
export function resultLabels(
  labels: Labels,
  { tool, callId, input, result, given, read }: LabelledResult,
): LabelTree {
  const own = mapLabels(ownLabels(tool, input, result), (label) => madeBy(label, `call:${callId}`))
  const kept = tool.readOnly ? TRUSTED : labels.given(tool.id)
  return joinLabel(own, joinAll([given, read, kept]))
}

/** What a tool says of its results: without a word of it, nobody vouches for what it reads in the open world. */
function ownLabels({ returns, openWorld }: Tool, input: unknown, result: unknown): LabelTree {
  if (returns === undefined) return { label: openWorld === false ? TRUSTED : UNTRUSTED }
  if (typeof returns !== 'function') return readLabelTree(returns)
  try {
    return readLabelTree(returns(input, result))
  } catch {
    return readLabelTree(null)
  }
}

/** The events of a call's assets with their labels: of what stands where they stood, of a offloaded result its own. */
export function labelledAssets(
  events: readonly ConversationEvent[],
  tree: LabelTree,
  whole: LabelTree,
): ConversationEvent[] {
  return events.map((event) => {
    if (event.type !== 'ASSET_CREATED' || event.payload.label !== undefined) return event
    const { origin } = event.payload
    const label = origin === undefined ? whole : treeAt(tree, fromPointer(origin))
    // The body is read on demand, and no copy has it.
    event.payload.label = writeLabelTree(label)
    return event
  })
}

/** Of a list of results, one for each item, which are as many as what they were made of. */
export function listLabels(items: Iterable<LabelTree>, given: Label): LabelTree {
  let each: LabelTree = { label: given }
  for (const item of items) each = joinTrees(each, item)
  return { label: given, fields: { '*': each } }
}

/** What we say ourselves of a call that did not run, or not to its end: no value is in it. */
const OURS: ReadonlySet<string> = new Set([
  'approval_denied',
  'flow_refused',
  'interrupted',
  'tool_not_found',
  'call_cycle',
  'source_failed',
])

/** An outcome with labels: of one that nothing but its call's arguments made, theirs. */
export function labelOutcome(labels: Labels, plan: CallPlan, outcome: CallOutcome): CallOutcome {
  if (outcome.labels) return outcome
  const isOurs = 'error' in outcome && OURS.has(outcome.error.code)
  const label = isOurs ? labels.contextOf(plan.id) : callLabels(labels, plan).all
  return { ...outcome, labels: { label } }
}

/** The event of a value that became an asset, with the labels of the value below its content. */
export function labelledOffload(
  events: readonly ConversationEvent[],
  tree: LabelTree,
): ConversationEvent[] {
  return labelledAssets(events, tree, { label: TRUSTED, fields: { content: tree } })
}
