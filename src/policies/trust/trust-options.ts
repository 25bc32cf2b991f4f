import { is, type OptionTable } from '../../core/check-options.ts'
import type { FlowViolation, TrustMode } from '../../core/events/events.ts'
import type { Label } from '../../core/labels/label.ts'

/** A call before it starts, as `decide` sees it. */
export interface CheckedCall {
  toolCallId: string
  tool: string
  conversation: string
  /** The arguments with the values of their variables; for a mapped call, a list with those of each item. */
  arguments: unknown
  /** The label of all input of the call, and of what the model had seen when it wrote the call. */
  label: Label
  /** The label of what the model had seen when it wrote the call. */
  context: Label
  /** What the tool does not accept. Empty if it accepts everything. */
  violations: readonly FlowViolation[]
}

/** The decision about a call. */
export type FlowDecision = 'allow' | 'ask' | 'deny'

/** How an agent handles untrusted values (docs/reference/trust.md). */
export interface TrustOptions {
  /** `track` or `quarantine`; `off` turns trust off. */
  mode: TrustMode
  /**
   * What happens to a call with a violation. `ask` (default): a person is asked. `deny`: the call fails.
   */
  onViolation?: 'ask' | 'deny'
  /**
   * Your own decision. It is called before every call, even if there are no violations. Return undefined to leave
   * violations to `onViolation`. If it throws or returns anything else, the call is denied.
   */
  decide?(call: CheckedCall): FlowDecision | undefined | Promise<FlowDecision | undefined>
  /**
   * Maximum number of bits about untrusted values that a run may reveal through closed values and `ask_about`.
   * Default: 64.
   */
  budgetBits?: number
  /** Whether files in users' messages are trusted. Default: `untrusted`. */
  attachments?: 'trusted' | 'untrusted'
}

/** {@link TrustOptions} with default values, for an agent with trust. */
export interface TrustSettings extends Required<Omit<TrustOptions, 'mode' | 'decide'>> {
  mode: Exclude<TrustMode, 'off'>
  decide: TrustOptions['decide']
}

export const TRUST_MODE = is.oneOf('off', 'track', 'quarantine')
export const TRUST_OPTIONS: OptionTable<TrustOptions> = {
  mode: is.required(TRUST_MODE),
  onViolation: is.oneOf('ask', 'deny'),
  decide: is.callback(),
  budgetBits: is.notNegative,
  attachments: is.oneOf('trusted', 'untrusted'),
}

/** Fills in default values. Null for `off`. */
export function resolveTrust(option: TrustMode | TrustOptions = 'off'): TrustSettings | null {
  const options = typeof option === 'string' ? { mode: option } : option
  const { mode, onViolation = 'ask', decide, budgetBits = 64, attachments = 'untrusted' } = options
  return mode === 'off' ? null : { mode, onViolation, decide, budgetBits, attachments }
}
