import type { Tool } from '../../boundary/tool.ts'
import type { CallError, ConversationEvent } from '../../core/events/events.ts'
import { type Label, madeBy, TRUSTED, UNTRUSTED } from '../../core/labels/label.ts'
import {
  joinLabel,
  joinTrees,
  type LabelTree,
  mapLabels,
  readLabelTree,
  treeAt,
  writeLabelTree,
} from '../../core/labels/label-tree.ts'
import { fromPointer } from '../../core/refs/field-key.ts'

/** A result to be labelled. */
export interface LabelledResult {
  tool: Tool
  /** The call, without an item's index. */
  callId: string
  input: unknown
  /** Absent where the tool failed. */
  result?: unknown
}

/**
 * The labels of what a tool returned: what it declares, joined with the label of what it was given, read and may
 * have kept.
 */
export function resultLabels(
  { tool, callId, input, result }: LabelledResult,
  given: Label,
): LabelTree {
  const own = mapLabels(declared(tool, input, result), (label) => madeBy(label, `call:${callId}`))
  return joinLabel(own, given)
}

/** What a tool declares of its results. Without a declaration, what comes from the open world is untrusted. */
function declared({ returns, openWorld }: Tool, input: unknown, result: unknown): LabelTree {
  if (returns === undefined) return { label: openWorld === false ? TRUSTED : UNTRUSTED }
  if (typeof returns !== 'function') return readLabelTree(returns)
  try {
    return readLabelTree(returns(input, result))
  } catch {
    return readLabelTree(null)
  }
}

/** The events of a call's assets, with the labels of the places where the bodies stood. */
export function labelledAssets(
  events: readonly ConversationEvent[],
  tree: LabelTree,
  whole: LabelTree,
): ConversationEvent[] {
  return events.map((event) => {
    if (event.type !== 'ASSET_CREATED' || event.payload.label !== undefined) return event
    const { origin } = event.payload
    const label = origin === undefined ? whole : treeAt(tree, fromPointer(origin))
    // Not copied: the event gives its body on demand, and a copy would not.
    event.payload.label = writeLabelTree(label)
    return event
  })
}

/** Of a list of results, one for each item. Their number is that of the list that they were made from. */
export function listLabels(items: Iterable<LabelTree>, given: Label): LabelTree {
  let each: LabelTree = { label: given }
  for (const item of items) each = joinTrees(each, item)
  return { label: given, fields: { '*': each } }
}

/** Errors whose messages are byref's own words, with no value in them. */
const OURS: ReadonlySet<string> = new Set([
  'approval_denied',
  'flow_refused',
  'interrupted',
  'tool_not_found',
  'call_cycle',
  'source_failed',
])

/** The label of the words of a call that did not run, or not to its end. */
export function labelOfFailure(
  { code }: CallError,
  { context, given }: { context: Label; given: Label },
): Label {
  return OURS.has(code) ? context : given
}
