import { TOOL_OPTIONS, type Tool } from '../../boundary/tool.ts'
import { is, type OptionTable } from '../../core/check-options.ts'
import type { TrustMode } from '../../core/events/events.ts'
import { LABEL_TREE, type LabelTreeInput } from '../../core/labels/label-tree.ts'
import { TRUST_MODE, TRUST_OPTIONS } from '../../policies/trust/trust-options.ts'

/** The trust options of a tool of the AI SDK. They mean the same as in `defineTool` (docs/reference/trust.md). */
export interface ToolTrust extends Pick<Tool, 'readOnly' | 'openWorld' | 'accepts'> {
  /** The label of its results. Default: untrusted, but trusted where `openWorld` is false. */
  returns?: LabelTreeInput
}

/** The trust options of {@link byReference}. */
export interface ByReferenceTrust {
  mode: TrustMode
  /** Options of tools, by name. A tool without options acts, and its results are untrusted. */
  tools?: Readonly<Record<string, ToolTrust>>
  /** What happens to a call that its tool does not accept: a person is asked (default), or the call fails. */
  onViolation?: 'ask' | 'refuse'
  /** Whether files in users' messages are trusted. Default `untrusted`. */
  attachments?: 'trusted' | 'untrusted'
}

/** {@link ByReferenceTrust} with its defaults, where trust is on. */
export interface TrustSettings extends Required<Omit<ByReferenceTrust, 'mode'>> {
  mode: Exclude<TrustMode, 'off'>
}

/** A tool's trust options, and whether its own `toModelOutput` may rename fields of its results. */
export interface KnownTrust extends ToolTrust {
  isRenamed?: boolean
}

/** What the labels of messages depend on, in addition to the messages. */
export interface MessageTrust extends TrustSettings {
  trustOf(tool: string): KnownTrust
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

/** Returns a tool as the trust policy knows it. Nothing runs it, and it writes no data. */
export function flowTool(
  id: string,
  inputSchema: Tool['inputSchema'],
  { isRenamed: _, ...trust }: KnownTrust = {},
): Tool {
  return { id, description: '', inputSchema, outputPath: false, execute: () => null, ...trust }
}
