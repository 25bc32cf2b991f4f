import type { Tool } from '../../boundary/tool.ts'
import type { ConversationEvent } from '../../core/events/events.ts'
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

/** The result of a tool, to be labelled. */
export interface LabelledResult {
  tool: Tool
  /** The id of the call, without an item's index. */
  callId: string
  input: unknown
  /** The result. Absent if the tool failed. */
  result?: unknown
}

/**
 * Returns the labels of a tool's result: what the tool declares, joined with the labels of what it received, has
 * read and may have retained.
 */
export function resultLabels(
  { tool, callId, input, result }: LabelledResult,
  received: Label,
): LabelTree {
  const tree = mapLabels(declared(tool, input, result), (label) => madeBy(label, `call:${callId}`))
  return joinLabel(tree, received)
}

/**
 * Returns the declared labels of a tool's results. Without a declaration, results of `openWorld` tools are
 * untrusted.
 */
function declared({ returns, openWorld }: Tool, input: unknown, result: unknown): LabelTree {
  if (returns === undefined) return { label: openWorld === false ? TRUSTED : UNTRUSTED }
  if (typeof returns !== 'function') return readLabelTree(returns)
  try {
    return readLabelTree(returns(input, result))
  } catch {
    return readLabelTree(null)
  }
}

/** Adds labels to the events of a call's assets: the label of the place in the result where the bytes were. */
export function labelledAssets(
  events: readonly ConversationEvent[],
  tree: LabelTree,
  whole: LabelTree,
): ConversationEvent[] {
  return events.map((event) => {
    if (event.type !== 'ASSET_CREATED' || event.payload.label !== undefined) return event
    const { origin } = event.payload
    const label = origin === undefined ? whole : treeAt(tree, fromPointer(origin))
    // Do not copy the event: it reads its bytes on demand, and a copy cannot.
    event.payload.label = writeLabelTree(label)
    return event
  })
}

/**
 * Returns the labels of a mapped call's list of results. Its length has the label of the list that the call was
 * mapped over.
 */
export function listLabels(items: Iterable<LabelTree>, received: Label): LabelTree {
  let each: LabelTree = { label: received }
  for (const item of items) each = joinTrees(each, item)
  return { label: received, fields: { '*': each } }
}

/** Error codes whose messages contain no values. */
export const WITHOUT_VALUES: ReadonlySet<string> = new Set([
  'approval_denied',
  'flow_denied',
  'interrupted',
  'tool_not_found',
  'call_cycle',
  'source_failed',
])
