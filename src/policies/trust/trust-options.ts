import { is, type OptionTable } from '../../core/check-options.ts'
import type { FlowViolation, TrustMode } from '../../core/events/events.ts'
import type { Label } from '../../core/labels/label.ts'

/** A call as a policy sees it, before it begins. */
export interface CheckedCall {
  toolCallId: string
  tool: string
  conversation: string
  /** What would run, with the values of its variables; of a mapped call the arguments of each item. */
  arguments: unknown
  /** Of everything that it was given, and of what its model had been shown. */
  label: Label
  /** Of what its model had been shown when it made the call. */
  context: Label
  /** What its tool does not take. */
  violations: readonly FlowViolation[]
}

/** How a call is to be treated. */
export type FlowDecision = 'allow' | 'ask' | 'refuse'

/** How an agent treats what nobody vouches for (docs/trust.md). */
export interface TrustOptions {
  mode: TrustMode
  /**
   * What happens to a call that its tool does not take as it is: a person is asked (`ask`, the default), or it
   * fails.
   */
  onViolation?: 'ask' | 'refuse'
  /** The agent's own policy, asked about every call that could be held up; undefined leaves it to `onViolation`. */
  decide?(call: CheckedCall): FlowDecision | undefined | Promise<FlowDecision | undefined>
  /** So many bits of untrusted values a run may show its model, by `ask_about`. Default 64. */
  budgetBits?: number
  /** Whether somebody vouches for the files of people's messages. Default `untrusted`. */
  attachments?: 'trusted' | 'untrusted'
}

/** {@link TrustOptions} with their defaults, of an agent that has trust on. */
export interface TrustSettings extends Required<Omit<TrustOptions, 'mode' | 'decide'>> {
  mode: Exclude<TrustMode, 'off'>
  decide: TrustOptions['decide']
}

export const TRUST_MODE = is.oneOf('off', 'track', 'quarantine')
export const TRUST_OPTIONS: OptionTable<TrustOptions> = {
  mode: is.required(TRUST_MODE),
  onViolation: is.oneOf('ask', 'refuse'),
  decide: is.callback(),
  budgetBits: is.notNegative,
  attachments: is.oneOf('trusted', 'untrusted'),
}

/** Fills in the defaults; null for `off`. */
export function resolveTrust(given: TrustMode | TrustOptions = 'off'): TrustSettings | null {
  const options = typeof given === 'string' ? { mode: given } : given
  const { mode, onViolation = 'ask', decide, budgetBits = 64, attachments = 'untrusted' } = options
  return mode === 'off' ? null : { mode, onViolation, decide, budgetBits, attachments }
}
