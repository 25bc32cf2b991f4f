import { editAssetTool } from '../../assets/edit/edit-asset-tool.ts'
import { TOOL_OPTIONS, type Tool } from '../../boundary/tool.ts'
import { type Check, is } from '../../core/check-options.ts'
import { ByrefError } from '../../core/errors.ts'
import type { TrustMode } from '../../core/events/events.ts'
import { LABEL_TREE, type LabelTreeInput } from '../../core/labels/label-tree.ts'
import { isAssetRef } from '../../core/refs/asset-ref.ts'
import { TRUST_MODE, TRUST_OPTIONS } from '../../policies/trust/trust-options.ts'

/**
 * The trust options of a tool of another framework. They mean the same as in `defineTool` (docs/reference/trust.md).
 */
export interface ToolTrust extends Pick<Tool, 'readOnly' | 'openWorld' | 'accepts'> {
  /** The label of its results. Default: untrusted, or trusted if `openWorld` is false. */
  returns?: LabelTreeInput
}

/** The trust options of {@link byReference}. */
export interface ByReferenceTrust {
  mode: TrustMode
  /** Options of tools, by name. A tool without options acts, and its results are untrusted. */
  tools?: Readonly<Record<string, ToolTrust>>
  /** What happens if a tool does not accept a call. `ask` (default): a person is asked. `deny`: the call fails. */
  onViolation?: 'ask' | 'deny'
  /** Whether files in users' messages are trusted. Default `untrusted`. */
  attachments?: 'trusted' | 'untrusted'
}

/** {@link ByReferenceTrust} with its defaults, where trust is on. */
export interface MessageTrust extends Required<Omit<ByReferenceTrust, 'mode' | 'tools'>> {
  mode: Exclude<TrustMode, 'off'>
  trustOf(tool: string): ToolTrust
  /** Whether a tool's own `toModelOutput` may rename fields of its results. Default: no tool has one. */
  isRenamed?(tool: string): boolean
}

export const TRUST: Check<TrustMode | ByReferenceTrust> = is.either(
  TRUST_MODE,
  is.group<ByReferenceTrust>({
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
  }),
)

/** The trust options of tools that read assets: their results have the label of what they read. */
const READING: ToolTrust = { readOnly: true, openWorld: false }

/**
 * Fills in the defaults; null for `off`.
 *
 * @param isReading Whether a tool is one of byref's that read assets.
 */
export function resolveTrust(
  given: TrustMode | ByReferenceTrust = 'off',
  isReading: (tool: string) => boolean,
): MessageTrust | null {
  const options = typeof given === 'string' ? { mode: given } : given
  const { mode, tools = {}, onViolation = 'ask', attachments = 'untrusted' } = options
  if (mode === 'off') return null
  const trustOf = (name: string): ToolTrust =>
    (Object.hasOwn(tools, name) && tools[name]) || (isReading(name) ? READING : {})
  return { mode, onViolation, attachments, trustOf }
}

/** Returns a tool for the trust policy. It is never run, and writes no data. */
export function flowTool(id: string, inputSchema: Tool['inputSchema'], trust?: ToolTrust): Tool {
  return { id, description: '', inputSchema, outputPath: false, execute: () => null, ...trust }
}

/**
 * Checks that a call of a tool that reads assets names each by a reference. Such tools take the id alone, too, but
 * labels follow references only. `edit_asset` takes any other text in `ref` as a value.
 *
 * @throws ByrefError `invalid_reference`
 */
export function checkNamed(tool: string, { ref, id, tables }: Record<string, unknown>): void {
  const named = tool === editAssetTool.id ? ref === undefined && id : (ref ?? id)
  const all = [named, ...Object.values(Object(tables))]
  if (all.every((one) => typeof one !== 'string' || isAssetRef(one))) return
  throw new ByrefError(
    'invalid_reference',
    'An asset must be named by a reference, such as asset://id, and not by the id alone',
  )
}
