import { knownOptions, oneOf } from '../../../agent/known-options.ts'
import type { JsonSchema } from '../../../agent/tools/describe-schema.ts'
import { checkClearance, type Tool } from '../../../agent/tools/tool.ts'
import type { TrustMode } from '../../../content/events.ts'
import type { LabelTreeInput } from '../../../content/label-tree.ts'

/** What is known of a tool of the AI SDK, as tools of byref say it of themselves (docs/trust.md). */
export interface ToolTrust extends Pick<Tool, 'readOnly' | 'openWorld' | 'accepts'> {
  /** The label of its results. Default: untrusted, but trusted where `openWorld` is false. */
  returns?: LabelTreeInput
}

/** How what nobody vouches for is treated. */
export interface ByReferenceTrust {
  mode: TrustMode
  /** What is known of tools, by their names. Of one that is not here nobody vouches for its results, and it acts. */
  tools?: Readonly<Record<string, ToolTrust>>
  /** Whether a person is asked about a call that its tool does not take (default), or it fails. */
  onViolation?: 'ask' | 'refuse'
  /** Whether somebody vouches for files in users' messages. Default `untrusted`. */
  attachments?: 'trusted' | 'untrusted'
}

/** {@link ByReferenceTrust} with its defaults, where it is on. */
export interface TrustSettings extends Required<Omit<ByReferenceTrust, 'mode'>> {
  mode: Exclude<TrustMode, 'off'>
}

/**
 * Fills in the defaults; null for `off`.
 *
 * @throws ByrefError `config_invalid` for unknown options and values
 */
export function resolveTrust(given: TrustMode | ByReferenceTrust = 'off'): TrustSettings | null {
  const options = typeof given === 'string' ? { mode: given } : given
  knownOptions('trust', options, ['mode', 'tools', 'onViolation', 'attachments'])
  const { mode, tools = {}, onViolation = 'ask', attachments = 'untrusted' } = options
  oneOf('trust.mode', mode, ['off', 'track', 'quarantine'])
  oneOf('trust.onViolation', onViolation, ['ask', 'refuse'])
  oneOf('trust.attachments', attachments, ['trusted', 'untrusted'])
  for (const [name, one] of Object.entries(tools)) {
    knownOptions('trust.tools', one, ['readOnly', 'openWorld', 'accepts', 'returns'])
    if (one.accepts !== undefined) checkClearance(`trust.tools.${name}.accepts`, one.accepts)
  }
  return mode === 'off' ? null : { mode, tools, onViolation, attachments }
}

/** A tool as what may flow to it is looked up by. */
export function flowTool(id: string, inputSchema: JsonSchema, trust: ToolTrust = {}): Tool {
  return { id, description: '', inputSchema, ...trust, execute: () => null }
}
