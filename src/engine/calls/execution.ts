import type { CallPlan } from '../../boundary/call-plan.ts'
import type { CallLabels } from '../../policies/trust/call-labels.ts'

/** One execution of a tool: of a call, or of an item of a mapped one. */
export interface Execution {
  plan: CallPlan
  /** The call's id, with the item's index for a mapped one. */
  toolCallId: string
  /** The arguments with the values of their variables; references to assets still in them. */
  arguments: Record<string, unknown>
  attempt: number
  /** Of what its call was given; null where trust is off. */
  labels: CallLabels | null
}
