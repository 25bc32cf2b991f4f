import type { Assets } from '../../assets/assets-contract.ts'
import { fileRefIn } from '../../assets/held-body.ts'
import { assetReads, type Read } from '../../boundary/resolve.ts'
import type { Tool } from '../../boundary/tool.ts'
import { SEARCH_TOOLS } from '../../boundary/tool-search.ts'
import { isPlainObject } from '../../core/json/json.ts'
import { isPlain, join, type Label, TRUSTED, UNKNOWN, UNTRUSTED } from '../../core/labels/label.ts'
import { type LabelTree, treeAt, wholeOf } from '../../core/labels/label-tree.ts'
import { RESULT, resultNumber } from '../../core/messages/results.ts'
import { type AssetRefParts, isAssetRef, parseAssetRef } from '../../core/refs/asset-ref.ts'
import { ownField } from '../../core/refs/field-path.ts'
import { type FoundReference, referencesIn } from '../../core/refs/references-in.ts'
import type { VariableRef } from '../../core/refs/variable-ref.ts'
import type { GivenLabels } from '../../policies/trust/check-flow.ts'
import { resultLabels } from '../../policies/trust/result-labels.ts'
import { type ModelOutput, outputValue, urlOf } from '../model-output.ts'
import { denialText, labelOfCall, SessionLabels, violationWords } from './session-labels.ts'
import { flowTool, type MessageTrust } from './tool-trust.ts'

/** A message as the AI SDK gives it to its models or to its tools. */
export interface AnyMessage {
  role: string
  content: unknown
}

/** A result among the messages. */
export interface LabelledResult {
  value: unknown
  labels: LabelTree
  /** Null if the messages no longer contain the call. */
  call: { input: unknown; labels: GivenLabels } | null
}

/** A call whose tool is about to run. */
export interface NewCall {
  toolCallId: string
  /** As the model wrote it. */
  input: unknown
  /** The input with the values of its variables. */
  args: unknown
  /** Reads the fields that references name. */
  assets: Pick<Assets, 'resolve'>
}

/** The parts of messages that labels depend on. Each has some of these fields. */
interface Part {
  type: string
  toolCallId: string
  toolName: string
  approvalId: string
  approved: boolean
  input: unknown
  output: ModelOutput
  data: unknown
}

const NO_OUTPUT: ModelOutput = { type: 'text', value: '' }

/** The labels in a list of messages. They depend on the messages alone. */
export class MessageLabels {
  /** `†result#1` is the first. */
  readonly results: LabelledResult[] = []
  readonly #session: SessionLabels
  readonly #trust: MessageTrust
  /** The calls without a result, with the label of what their model had seen. Ids may be reused. */
  readonly #calls = new Map<string, { input: unknown; context: Label }>()
  readonly #tools = new Map<string, Tool>()
  /** The label of what each acting tool received so far. Its later results may contain it. */
  readonly #retained = new Map<string, Label>()
  readonly #asked = new Map<string, string>()
  readonly #approved = new Set<string>()

  constructor(messages: readonly AnyMessage[], trust: MessageTrust) {
    this.#trust = trust
    this.#session = new SessionLabels(trust.mode)
    for (const { role, content } of messages) {
      if (!Array.isArray(content)) continue
      for (const part of content) if (isPlainObject(part)) this.#take(role, part)
    }
  }

  /** Returns the label of the asset behind a reference. */
  asset(ref: string): Label {
    const parts = isAssetRef(ref) ? parseAssetRef(ref) : null
    return parts ? this.#session.asset(parts) : UNKNOWN
  }

  /** Returns why its tool does not accept a new call; null if the call may run. */
  async violation(
    tool: Tool,
    { toolCallId, input, args, assets }: NewCall,
  ): Promise<string | null> {
    // A person approved this call.
    if (this.#approved.has(toolCallId)) return null
    const { context, reads } = this.#labelsOf(toolCallId, input)
    const labelsOf = (ref: AssetRefParts) => ({ label: this.#session.asset(ref) })
    // Text has replaced the references within longer texts in `args`.
    const inside = [...new Set([input, args])].map((one) => assetReads(one, labelsOf, assets))
    const labels = { context, reads: [...reads, ...(await Promise.all(inside)).flat()] }
    return violationWords(tool, { written: input, args, labels })
  }

  #labelsOf(toolCallId: string, input: unknown): GivenLabels {
    const context = this.#calls.get(toolCallId)?.context ?? this.#session.context
    return { context, reads: referencesIn(input).flatMap((reference) => this.#reads(reference)) }
  }

  /** Returns the values that a reference leads to, also through references inside those values. */
  #reads({ path, text: ref, variables, assets }: FoundReference): Read[] {
    const found = variables.flatMap((one) => this.#find(one))
    const inside = found.flatMap(({ value }) => referencesIn(value))
    const labelsOf = (asset: AssetRefParts) => ({ label: this.#session.asset(asset) })
    return [
      ...found.map(({ labels }) => ({ path, ref, labels })),
      ...assets.map((one) => ({ path, ref, labels: labelsOf(one) })),
      ...inside.flatMap((inner) =>
        inner.assets.map((one) => {
          return { path: [...path, ...inner.path], ref: inner.text, labels: labelsOf(one) }
        }),
      ),
    ]
  }

  /** Returns the value of a variable with its labels. Empty if there is none. */
  #find(variable: VariableRef): { value: unknown; labels: LabelTree }[] {
    const { kind, path } = variable
    const result = kind === RESULT ? this.results[resultNumber(variable) - 1] : undefined
    if (!result) return []
    const value = path.reduce<unknown>((held, key) => ownField(held, key), result.value)
    return [{ value, labels: treeAt(result.labels, path) }]
  }

  #take(role: string, part: Partial<Part>): void {
    const { type, toolCallId = '', approvalId = '', input, output = NO_OUTPUT, data } = part
    if (type === 'file' && role === 'user') this.#takeFile(data)
    if (type === 'tool-call') this.#calls.set(toolCallId, { input, context: this.#session.context })
    if (type === 'tool-approval-request') this.#asked.set(approvalId, toolCallId)
    const asked = type === 'tool-approval-response' ? this.#asked.get(approvalId) : undefined
    if (asked !== undefined && part.approved) this.#approved.add(asked)
    if (type !== 'tool-result') return
    const name = part.toolName ?? ''
    if (role === 'tool') this.#takeResult(name, toolCallId, output)
    else if (name !== SEARCH_TOOLS || this.#toolOf(name).openWorld !== false) {
      // The provider ran this tool, and its model read the result before byref could hide it.
      this.#session.showWhole(UNTRUSTED)
      this.#noteAssets(output, UNTRUSTED)
    }
  }

  #takeFile(data: unknown): void {
    const label = this.#trust.attachments === 'trusted' ? TRUSTED : UNTRUSTED
    const ref = urlOf(data) ?? String(data)
    const parts = isAssetRef(ref) ? parseAssetRef(ref) : null
    if (parts) this.#session.noteAsset(parts.id, label)
    this.#session.show({ label })
  }

  #takeResult(toolName: string, toolCallId: string, output: ModelOutput): void {
    const made = this.#calls.get(toolCallId)
    const call = made && { input: made.input, labels: this.#labelsOf(toolCallId, made.input) }
    this.#calls.delete(toolCallId)
    this.#approved.delete(toolCallId)
    const result = { value: outputValue(output), labels: { label: TRUSTED }, call: call ?? null }
    // The person or the app wrote the reason of a denial.
    if (output.type === 'execution-denied') result.value = null
    else {
      const tool = this.#toolOf(toolName)
      const label = call ? labelOfCall(call.labels) : UNKNOWN
      const retained = join(this.#retained.get(toolName) ?? TRUSTED, label)
      if (!tool.readOnly) this.#retained.set(toolName, retained)
      const { value } = result
      const about = { tool, callId: toolCallId, input: made?.input, result: value }
      const tree = resultLabels(about, tool.readOnly ? label : retained)
      // Only plain data has the fields that `returns` names: an error has others, and so has content.
      const isData =
        (output.type === 'json' || output.type === 'text') && !this.#trust.isRenamed?.(toolName)
      result.labels = isData ? tree : { label: wholeOf(tree) }
      this.#noteAssets(value, wholeOf(tree))
    }
    this.results.push(result)
    this.#session.show(result.labels)
  }

  #toolOf(name: string): Tool {
    const tool = this.#tools.get(name) ?? flowTool(name, {}, this.#trust.trustOf(name))
    this.#tools.set(name, tool)
    return tool
  }

  /** A trusted result's own files are trusted, too. An asset that it only names may come from anybody. */
  #noteAssets(value: unknown, label: Label): void {
    const named = referencesIn(value).flatMap(({ assets }) => assets)
    if (named.length === 0) return
    const files = new Set(isPlain(label) ? filesIn(value) : [])
    for (const { id } of named) {
      if (!isPlain(label) || files.has(id)) this.#session.noteAsset(id, label)
    }
  }
}

/** Returns byref's own message if the call of a result was denied; null for any other error text. */
export function denialIn({ call }: LabelledResult, tool: Tool, text: string): string | null {
  if (!call) return null
  const { input: written, labels } = call
  const words = violationWords(tool, { written, args: written, labels })
  const denial = words === null ? null : denialText(tool, words)
  return denial !== null && text.includes(denial) ? denial : null
}

/** Returns the ids of the assets that stand for files in a value. */
function filesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const ref = fileRefIn(value)
  const parts = ref === null ? null : parseAssetRef(ref)
  return [...(parts ? [parts.id] : []), ...Object.values(value).flatMap(filesIn)]
}
