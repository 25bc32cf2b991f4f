import type { Read } from '../../boundary/resolve.ts'
import { joinAll, type Label, readLabel, TRUSTED } from '../../core/labels/label.ts'
import { wholeOf } from '../../core/labels/label-tree.ts'
import type { Labels } from '../../core/labels/labels.ts'
import { ownInstance } from '../../core/refs/own-instance.ts'
import { referencesIn } from '../../core/refs/references-in.ts'
import type { PolicyCall } from '../policy.ts'

/**
 * Returns the label of everything that a call is given: what the model had seen, and what the call reads.
 *
 * @param reads What one execution reads. Default: what all of the call's items read.
 */
export function givenTo(call: PolicyCall, labels: Labels, reads?: readonly Read[]): Label {
  const { toolCallId, each, state } = call
  const read = reads ? labelOf(reads) : readsOf(call)
  const over = each ? [wholeOf(each)] : []
  // A person approved these values. The same names may have other values by now.
  const shown = state.approval?.label ? [readLabel(state.approval.label)] : []
  return joinAll([labels.contextOf(toolCallId), ...over, read, ...shown, byName(call, labels)])
}

const labelOf = (reads: readonly Read[]): Label => joinAll(reads.map((one) => wholeOf(one.labels)))

/** Caches the label of what the items of a call read. */
const allReads = new WeakMap<PolicyCall['items'], Label>()

/** Returns the label of everything a call reads. It is computed once, because every failed item needs it. */
function readsOf({ items }: PolicyCall): Label {
  const known = allReads.get(items) ?? labelOf(items.flatMap(({ reads }) => reads))
  allReads.set(items, known)
  return known
}

/**
 * Returns the label of what the model wrote, if nothing was read for the call: it failed before, or a person
 * approved its values.
 */
function byName({ written, items, state }: PolicyCall, labels: Labels): Label {
  if (items.length > 0 && !state.approval?.answer) return TRUSTED
  const instance = ownInstance(state.call?.arguments)
  return joinAll(referencesIn(written).map((found) => labels.reference(found, { instance })))
}
