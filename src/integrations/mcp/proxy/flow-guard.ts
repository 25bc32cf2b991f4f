import type { Assets } from '../../../assets/assets-contract.ts'
import type { Tool } from '../../../boundary/tool.ts'
import type { FlowViolation } from '../../../core/events/events.ts'
import { join, joinAll, type Label, TRUSTED, UNKNOWN } from '../../../core/labels/label.ts'
import { referencesIn } from '../../../core/refs/references-in.ts'
import {
  type GivenLabels,
  violationsOf,
  violationText,
} from '../../../policies/trust/check-flow.ts'
import { stricterByMeta } from '../label-meta.ts'

/** The labels in one client's session, and what may flow by them. */
export interface FlowGuard {
  /** The client was shown something of this label. */
  show(label: Label): void
  /** Assets that note the label of what is saved. */
  labelling(label: Label): Assets
  /** The labels of what a call is given, and of what stands behind the references in it. */
  given(args: Record<string, unknown>, meta: unknown): GivenLabels & { all: Label }
  /** What a tool does not take of a call. */
  violations(call: GuardedCall): readonly FlowViolation[]
}

/** A call before it goes to the server. */
export interface GuardedCall {
  tool: Tool
  /** As the client wrote it. */
  args: Record<string, unknown>
  /** Whether there was a reference in it that became a value. */
  isFilled: boolean
  labels: GivenLabels
}

/** Begins with a client that was shown nothing. */
export function createFlowGuard(assets: Assets): FlowGuard {
  const saved = new Map<string, Label>()
  let context = TRUSTED

  return {
    show(label) {
      context = join(context, label)
    },
    labelling(label) {
      return {
        ...assets,
        async save(...args: Parameters<Assets['save']>) {
          const info = await assets.save(...args)
          saved.set(info.assetId, join(saved.get(info.assetId) ?? TRUSTED, label))
          return info
        },
      }
    },
    given(args, meta) {
      const own = stricterByMeta(context, meta)
      const reads = referencesIn(args).flatMap(({ path, text: ref, assets: named }) =>
        named.map(({ id }) => ({ path, ref, labels: { label: saved.get(id) ?? UNKNOWN } })),
      )
      const all = joinAll([own, ...reads.map(({ labels }) => labels.label)])
      return { context: own, reads, all }
    },
    violations({ tool, args, isFilled, labels }) {
      // Whatever became a value came from somewhere.
      const hidden = { path: [], ref: 'a reference', labels: { label: UNKNOWN } }
      const reads = isFilled && labels.reads.length === 0 ? [hidden] : labels.reads
      return violationsOf(tool, args, { ...labels, reads })
    },
  }
}

/** What a person or a model is told of violations: no value, and of references those that the client wrote. */
export function inWords(
  violations: readonly FlowViolation[],
  args: Readonly<Record<string, unknown>>,
): string {
  const written = new Set(referencesIn(args).map(({ text }) => text))
  return [...new Set(violations.map((one) => violationText(one, written)))].join('; ')
}
