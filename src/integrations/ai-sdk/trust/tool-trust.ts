import type { JsonSchema } from '../../../boundary/describe-schema.ts'
import { TOOL_OPTIONS, type Tool } from '../../../boundary/tool.ts'
import { is, type OptionTable } from '../../../core/check-options.ts'
import type { TrustMode } from '../../../core/events/events.ts'
import { LABEL_TREE, type LabelTreeInput } from '../../../core/labels/label-tree.ts'
import { TRUST_MODE, TRUST_OPTIONS } from '../../../policies/trust/trust-options.ts'

/** What is known of a tool of the AI SDK, as tools of byref say it of themselves (docs/trust.md). */
export interface ToolTrust extends Pick<Tool, 'readOnly' | 'openWorld' | 'accepts'> {
  /** The label of its results. Default: untrusted, but trusted where `openWorld` is false. */
  returns?: LabelTreeInput
}

/** What is known of a tool, with what it does itself. */
export interface KnownTrust extends ToolTrust {
  /** Whether a `toModelOutput` of its own may show fields under other names. */
  isRenamed?: boolean
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

export const BY_REFERENCE_TRUST: OptionTable<ByReferenceTrust> = {
  mode: is.required(TRUST_MODE),
  tools: is.recordOf(
    is.group<ToolTrust>({
      readOnly: is.boolean,
      openWorld: is.boolean,
      accepts: TOOL_OPTIONS.accepts,
      returns: LABEL_TREE,
    }),
  ),
  onViolation: TRUST_OPTIONS.onViolation,
  attachments: TRUST_OPTIONS.attachments,
}

/** Fills in the defaults; null for `off`. */
export function resolveTrust(given: TrustMode | ByReferenceTrust = 'off'): TrustSettings | null {
  const options = typeof given === 'string' ? { mode: given } : given
  const { mode, tools = {}, onViolation = 'ask', attachments = 'untrusted' } = options
  return mode === 'off' ? null : { mode, tools, onViolation, attachments }
}

/** A tool as what may flow to it is looked up by. */
export function flowTool(id: string, inputSchema: JsonSchema, trust: ToolTrust = {}): Tool {
  return { id, description: '', inputSchema, ...trust, execute: () => null }
}
