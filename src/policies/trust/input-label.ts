import type { Read } from '../../boundary/resolve.ts'
import { joinAll, type Label, readLabel, TRUSTED } from '../../core/labels/label.ts'
import { wholeOf } from '../../core/labels/label-tree.ts'
import type { Labels } from '../../core/labels/labels.ts'
import { ownInstance } from '../../core/refs/own-instance.ts'
import { referencesIn } from '../../core/refs/references-in.ts'
import type { PolicyCall } from '../policy.ts'

/**
 * Returns the label of everything that a call receives: what the model had seen, and what the call reads.
 *
 * @param reads The reads of one execution. Default: those of all items of the call.
 */
export function inputLabel(call: PolicyCall, labels: Labels, reads?: readonly Read[]): Label {
  const { toolCallId, each, state } = call
  const read = reads ? labelOf(reads) : readsOf(call)
  const over = each ? [wholeOf(each)] : []
  // The values that a person approved. The same names may have other values by now.
  const approved = state.approval?.label ? [readLabel(state.approval.label)] : []
  return joinAll([labels.contextOf(toolCallId), ...over, read, ...approved, byName(call, labels)])
}

const labelOf = (reads: readonly Read[]): Label => joinAll(reads.map((one) => wholeOf(one.labels)))

/** Caches the label of what the items of a call read. */
const allReads = new WeakMap<PolicyCall['items'], Label>()

/** Returns the label of everything a call reads. It is computed once, because every failed item needs it. */
function readsOf({ items }: PolicyCall): Label {
  const label = allReads.get(items) ?? labelOf(items.flatMap(({ reads }) => reads))
  allReads.set(items, label)
  return label
}

/**
 * Returns the label of the references in a call, if the call has read nothing: it failed before, or a person approved
 * its values. Otherwise, `reads` has their labels.
 */
function byName({ written, items, state }: PolicyCall, labels: Labels): Label {
  if (items.length > 0 && !state.approval?.answer) return TRUSTED
  const instance = ownInstance(state.call?.arguments)
  return joinAll(referencesIn(written).map((found) => labels.reference(found, { instance })))
}
