import type { CallPlan } from '../../boundary/call-plan.ts'
import { join, joinAll, type Label } from '../../core/labels/label.ts'
import { type Labels, type OwnLabels, ownLabels } from '../../core/labels/labels.ts'
import type { FieldKey } from '../../core/refs/field-key.ts'
import { type FoundReference, referencesIn } from '../../core/refs/references-in.ts'

/** What a reference brings into a call. */
export interface Flow {
  /** Where it stands in the arguments. */
  path: readonly FieldKey[]
  ref: string
  label: Label
}

/** The labels of what a call is given. */
export interface CallLabels {
  /** Of what its model had been shown: of all that it wrote itself. */
  context: Label
  flows: readonly Flow[]
  /** Of everything together. */
  all: Label
}

/**
 * The labels of a call's arguments as they are now: of every reference that its model wrote, and of those to assets in
 * the values that variables gave, which are followed too.
 *
 * @param resolved The arguments with the values of their variables, of each item for a mapped call.
 */
export function callLabels(
  labels: Labels,
  { id, arguments: args, instance, each }: CallPlan,
  resolved: readonly (Record<string, unknown> | undefined)[] = [],
): CallLabels {
  const own = ownLabels(labels, { _each: each, _instance: instance })
  const context = labels.contextOf(id)
  const written = flowsOf(labels, args, own)
  const brought = resolved.flatMap((one) => {
    if (!one || one === args) return []
    return flowsOf(labels, one, own).filter(({ ref }) => !written.some((flow) => flow.ref === ref))
  })
  const flows = [...written, ...brought]
  const all = joinAll([context, ...(own.each ? [own.each] : []), ...flows.map((one) => one.label)])
  return { context, flows, all }
}

/** Both, where the values may have been read between them. */
export function eitherLabels(a: CallLabels, b: CallLabels): CallLabels {
  const isSame = a.context === b.context && a.flows.length + b.flows.length === 0
  if (isSame) return b
  const flows = b.flows.map((flow) => {
    const before = a.flows.find(({ ref, path }) => ref === flow.ref && `${path}` === `${flow.path}`)
    return before ? { ...flow, label: join(flow.label, before.label) } : flow
  })
  return { context: join(a.context, b.context), flows, all: join(a.all, b.all) }
}

function flowsOf(labels: Labels, args: unknown, own: OwnLabels): Flow[] {
  return referencesIn(args).map((found: FoundReference) => ({
    path: found.path,
    ref: found.text,
    label: labels.reference(found, own),
  }))
}
