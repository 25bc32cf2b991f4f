import type { Read } from '../../../boundary/resolve.ts'
import { namedBody } from '../../../boundary/resolve-assets.ts'
import { isPlainObject } from '../../../core/json/json.ts'
import {
  join,
  joinAll,
  type Label,
  madeBy,
  TRUSTED,
  UNKNOWN,
  UNTRUSTED,
} from '../../../core/labels/label.ts'
import {
  joinLabel,
  type LabelTree,
  mapLabels,
  readLabelTree,
  treeAt,
  wholeOf,
} from '../../../core/labels/label-tree.ts'
import { visibleOf } from '../../../core/labels/labels.ts'
import { RESULT } from '../../../core/messages/results.ts'
import { isAssetRef, parseAssetRef } from '../../../core/refs/asset-ref.ts'
import type { FieldKey } from '../../../core/refs/field-key.ts'
import { ownField } from '../../../core/refs/field-path.ts'
import { referencesIn } from '../../../core/refs/references-in.ts'
import type { GivenLabels } from '../../../policies/trust/check-flow.ts'
import type { ModelOutput } from '../model-output.ts'
import { outputValue, urlOf } from '../output-value.ts'
import type { KnownTrust, TrustSettings } from './tool-trust.ts'

/** A message as the AI SDK has it, for its models and for its tools. */
export interface AnyMessage {
  role: string
  content: unknown
}

/** The labels in the messages of a call, worked out from these alone. */
export interface MessageLabels {
  /** Of `†result#N`, by its place from 0. */
  results: readonly LabelledResult[]
  /** Of the asset at a reference; of one that no message knows, the strictest but for readers. */
  asset(ref: string): Label
  /** Of what a call is given, by what its model had been shown. */
  given(call: { toolCallId: string; input: unknown }): CallGiven
  /** Whether a person has said yes to a call. */
  isApproved(toolCallId: string): boolean
}

/** A result, and the call that it came of; null where that is not among the messages any more. */
export interface LabelledResult {
  labels: LabelTree
  value: unknown
  call: { input: unknown; given: CallGiven } | null
}

/** What a call is given, and the label of all of it. */
export interface CallGiven extends GivenLabels {
  all: Label
}

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

/** The ids of the assets that stand for files in a value. */
function filesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const ref = namedBody(value)
  const parts = ref === null ? null : parseAssetRef(ref)
  return [...(parts ? [parts.id] : []), ...Object.values(value).flatMap(filesIn)]
}

/**
 * Reads the labels out of messages.
 *
 * @param trustOf What is known of a tool.
 */
export function messageLabels(
  messages: readonly AnyMessage[],
  { mode, attachments }: Pick<TrustSettings, 'mode' | 'attachments'>,
  trustOf: (tool: string) => KnownTrust,
): MessageLabels {
  const results: LabelledResult[] = []
  /** Those without a result: ids may come again. */
  const assets = new Map<string, Label>()
  const calls = new Map<string, { input: unknown; context: Label }>()
  const kept = new Map<string, Label>()
  const asked = new Map<string, string>()
  const approved = new Set<string>()
  /** What the model was shown before its last answer, and since. */
  let context = TRUSTED
  let fresh = TRUSTED

  const show = (tree: LabelTree): void => {
    fresh = join(fresh, mode === 'quarantine' ? visibleOf(tree) : wholeOf(tree))
  }

  function asset(ref: string): Label {
    const parts = isAssetRef(ref) ? parseAssetRef(ref) : null
    return (parts && assets.get(parts.id)) ?? UNKNOWN
  }

  /** What the references in a value read, and the assets that the values behind them name. */
  function readsIn(root: unknown, at: readonly FieldKey[] = []): Read[] {
    return referencesIn(root).flatMap(({ path: below, text: ref, variables, assets: named }) => {
      const path = [...at, ...below]
      const behind = named.map(({ id }) => ({
        path,
        ref,
        labels: { label: assets.get(id) ?? UNKNOWN },
      }))
      const read = variables.flatMap((one): Read[] => {
        const found = one.kind === RESULT ? results[Number(one.instance) - 1] : undefined
        if (!found) return []
        const value = one.path.reduce<unknown>((held, key) => ownField(held, key), found.value)
        const within = readsIn(value, path).filter(({ ref }) => !ref.includes('†'))
        return [{ path, ref, labels: treeAt(found.labels, one.path) }, ...within]
      })
      return [...behind, ...read]
    })
  }

  function given({ toolCallId, input }: { toolCallId: string; input: unknown }): CallGiven {
    const own = calls.get(toolCallId)?.context ?? join(context, fresh)
    const reads = readsIn(input)
    return {
      context: own,
      reads,
      all: joinAll([own, ...reads.map(({ labels }) => wholeOf(labels))]),
    }
  }

  /** A result vouches for its own files, `{ assetRef, mimeType }`. An asset that it only names may be anybody's. */
  function noteAssets(root: unknown, label: Label): void {
    const isPlainLabel = label.integrity === 'trusted' && label.confidentiality === 'public'
    const files = new Set(filesIn(root))
    for (const { assets: named } of referencesIn(root)) {
      for (const { id } of named) {
        if (isPlainLabel && !files.has(id)) continue
        assets.set(id, join(assets.get(id) ?? TRUSTED, label))
      }
    }
  }

  function noteResult({ toolCallId, toolName, output }: Part): void {
    const made = calls.get(toolCallId)
    const call = made ? { ...made, given: given({ toolCallId, input: made.input }) } : null
    calls.delete(toolCallId)
    approved.delete(toolCallId)
    // What the person or the application said in place of a result is theirs.
    if (output.type === 'execution-denied') {
      results.push({ labels: { label: TRUSTED }, value: null, call })
      return
    }
    const { returns, openWorld, readOnly, isRenamed } = trustOf(toolName)
    const usual = { label: openWorld === false ? TRUSTED : UNTRUSTED }
    const own = mapLabels(returns ? readLabelTree(returns) : usual, (label) => {
      return madeBy(label, `call:${toolCallId}`)
    })
    // Of a call that is not there any more nothing is known.
    const all = call ? call.given.all : UNKNOWN
    const before = join(kept.get(toolName) ?? TRUSTED, all)
    if (!readOnly) kept.set(toolName, before)
    const tree = joinLabel(own, readOnly ? all : before)
    // The words of a failure are of no field; nor are the parts of content.
    const isData = (output.type === 'json' || output.type === 'text') && !isRenamed
    const shown = isData ? tree : { label: wholeOf(tree) }
    const value = outputValue(output)
    results.push({ labels: shown, value, call })
    noteAssets(value, wholeOf(tree))
    show(shown)
  }

  const file = attachments === 'trusted' ? TRUSTED : UNTRUSTED

  function read(role: string, part: Part): void {
    if (part.type === 'file' && role === 'user') {
      const ref = urlOf(part.data) ?? String(part.data)
      const parts = isAssetRef(ref) ? parseAssetRef(ref) : null
      if (parts) assets.set(parts.id, join(assets.get(parts.id) ?? TRUSTED, file))
      show({ label: file })
    }
    if (part.type === 'tool-call') calls.set(part.toolCallId, { input: part.input, context })
    if (part.type === 'tool-approval-request') asked.set(part.approvalId, part.toolCallId)
    if (part.type === 'tool-approval-response' && part.approved) {
      const id = asked.get(part.approvalId)
      if (id !== undefined) approved.add(id)
    }
    if (part.type !== 'tool-result') return
    if (role === 'tool') noteResult(part)
    else {
      // What the provider ran for its model has been shown.
      fresh = join(fresh, UNTRUSTED)
      noteAssets(part.output, UNTRUSTED)
    }
  }

  for (const { role, content } of messages) {
    if (role === 'assistant') {
      context = join(context, fresh)
      fresh = TRUSTED
    }
    if (!Array.isArray(content)) continue
    for (const part of content) if (isPlainObject(part)) read(role, part as unknown as Part)
  }
  return { results, asset, given, isApproved: (id) => approved.has(id) }
}
