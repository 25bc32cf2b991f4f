import type { CallLabels } from '../trust/call-labels.ts'
import type { CallPlan } from './call-plan.ts'

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
