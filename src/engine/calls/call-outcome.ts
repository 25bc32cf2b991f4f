import type { CallError, ConversationEvent } from '../../core/events/events.ts'
import type { LabelTree } from '../../core/labels/label-tree.ts'

/**
 * What an execution came to: the tool's value with its bytes as references, or what went wrong; the events of its assets;
 * and which alternative of its outputs the tool chose.
 */
export type CallOutcome = {
  events: readonly ConversationEvent[]
  chosen?: number
  /** Of the value, or of the error; absent where trust is off, and where nothing but its arguments made it. */
  labels?: LabelTree
} & ({ value: unknown } | { error: CallError })

/** An outcome without assets. */
export function failed(error: CallError): CallOutcome {
  return { events: [], error }
}
