import { type Edit, isJsonEdit } from '../../assets/edit/edit.ts'
import { isEditTool } from '../../boundary/call-plan.ts'
import type { Read } from '../../boundary/resolve.ts'
import { isPlain, join, joinAll, type Label, TRUSTED, writeLabel } from '../../core/labels/label.ts'
import {
  type LabelTree,
  treeAt,
  wholeOf,
  withTreeAt,
  writeLabelTree,
} from '../../core/labels/label-tree.ts'
import type { Labels } from '../../core/labels/labels.ts'
import { isAssetRef, parseAssetRef } from '../../core/refs/asset-ref.ts'
import { type FieldKey, fromPointer } from '../../core/refs/field-key.ts'
import { ownInstance } from '../../core/refs/own-instance.ts'
import { parseVariableRef } from '../../core/refs/variable-ref.ts'
import type { CallItem, CallOutcome, Execution, ExecutionChanges, PolicyCall } from '../policy.ts'
import { type NotedReads, noteReads } from './note-reads.ts'
import { labelledAssets, resultLabels } from './result-labels.ts'

/** One execution, and the labels of everything that its tool receives and reads. */
export class TrackedExecution {
  readonly #execution: Execution
  readonly #labels: Labels
  readonly #noted: NotedReads
  #started: { input: unknown } | null = null

  constructor(execution: Execution, labels: Labels) {
    this.#execution = execution
    this.#labels = labels
    this.#noted = noteReads(execution.call, labels, execution.reads)
    this.#retain()
  }

  /** The changes to the execution that track it. */
  get changes(): ExecutionChanges {
    const { assets, read, trust } = this.#noted
    return {
      assets,
      trust,
      onRead: read,
      onInput: (input) => {
        this.#started = { input }
      },
      label: () => writeLabel(wholeOf(this.#treeOf())),
    }
  }

  /** Labels the outcome with everything that the tool received and has read. */
  labelled(outcome: CallOutcome): CallOutcome {
    const { call, tool } = this.#execution
    const whole = this.#treeOf(outcome)
    const isNewVersion = isEditTool(tool) && !outcome.error
    const tree = isNewVersion ? labelEdit(call, this.#execution, { outcome, whole }) : whole
    const events = labelledAssets(outcome.events, tree, { label: wholeOf(tree) })
    const all = this.#all()
    const retained = tool.readOnly || isPlain(all) ? {} : { retained: writeLabel(all) }
    return { ...outcome, events, labels: tree, ...retained }
  }

  /** The label of what this execution received and has read. */
  #all(): Label {
    const { input, read } = this.#noted.trust
    return join(input, read)
  }

  /**
   * Records that a tool that acts may retain what this execution received and has read. Returns the label of what the
   * tool may have retained from all calls, because it may return that later.
   */
  #retain(): Label {
    const { tool } = this.#execution
    return tool.readOnly ? TRUSTED : this.#labels.keep(tool.id, this.#all())
  }

  #treeOf(outcome?: CallOutcome): LabelTree {
    // A failure before the tool starts reveals only the input of the call.
    if (!this.#started) return { label: this.#noted.trust.input }
    const { tool, call } = this.#execution
    const { input } = this.#started
    const about = { tool, callId: call.toolCallId, input, result: outcome?.value }
    const tree = resultLabels(about, joinAll([this.#all(), this.#retain()]))
    // The error message of a tool may contain any part of its input and reads.
    return outcome && !outcome.error ? tree : { label: wholeOf(tree) }
  }
}

/** The version that an edit starts from: its labels, and the path of the edited value in it. */
interface OldVersion {
  tree: LabelTree
  path: readonly FieldKey[]
}

/**
 * Labels the new version that a call of `edit_asset` created, and returns the labels of the call's result. There, the
 * reference of the new version has the label of the model's context, because it reveals nothing about the content.
 *
 * @param whole The label of everything that the call received.
 */
export function labelEdit(
  call: PolicyCall,
  item: CallItem,
  { outcome, whole }: { outcome: CallOutcome; whole: LabelTree },
): LabelTree {
  const { labels, written, toolCallId } = call
  if (!labels) return whole
  const edited = treeOfVersion(call, item, labels)
  if ('value' in Object(outcome.value)) {
    return edited ? { ...whole, fields: { value: edited } } : whole
  }
  for (const event of outcome.events) {
    if (event.type === 'ASSET_CREATED') event.payload.label = writeLabelTree(edited ?? whole)
  }
  if (!isAssetRef(written.ref)) return whole
  const chosen = { label: labels.contextOf(toolCallId) }
  return { ...chosen, fields: { '*': whole, assetRef: chosen } }
}

/**
 * Returns the labels of a new version and its fields: those of the old version, joined at the edited places with the
 * labels of what is written there. Null if one label must apply to all of it: for texts without fields, for `move`,
 * `copy` and `test`, and for calls that a person approved.
 */
function treeOfVersion(call: PolicyCall, item: CallItem, labels: Labels): LabelTree | null {
  const { isMapped, state, toolCallId } = call
  const { edits } = item.arguments
  if (isMapped || state.approval || !Array.isArray(edits)) return null
  const old = oldVersion(call, item, labels)
  if (!old) return null
  const context = labels.contextOf(toolCallId)
  let { tree } = old
  for (const [index, edit] of (edits as Edit[]).entries()) {
    if (readsOfEdit(item, index).some((read) => mayChoosePlace(read, edit))) return null
    const below = pathOf(edit)
    const path = below && beforeIndex([...old.path, ...below])
    if (!path || path.length === 0) return null
    // The model chose the place, but has not seen the value.
    tree = withLabelAt(tree, path.slice(0, -1), context, { isWhole: false })
    tree = withLabelAt(tree, path, join(context, labelOf(item, index)), { isWhole: true })
  }
  return tree
}

function oldVersion(call: PolicyCall, item: CallItem, labels: Labels): OldVersion | null {
  const { ref: written } = call.written
  const { ref } = item.arguments
  // A reference that a variable contained has a label of its own.
  if (isAssetRef(written) && isAssetRef(ref)) {
    const parts = parseAssetRef(String(ref))
    const tree = parts && labels.assetTree({ id: parts.id, fieldPath: [] })
    return tree ? { tree, path: parts.fieldPath ?? ['content'] } : null
  }
  const variable = typeof written === 'string' ? parseVariableRef(written) : null
  if (variable?.type !== 'variable' || isAssetRef(ref)) return null
  const own = ownInstance(call.state.call?.arguments)
  return { tree: labels.variableTree(variable, own), path: [] }
}

/** Returns the path of an edit below the edited value; null if it changes more than one place. */
function pathOf(edit: Edit): FieldKey[] | null {
  if (!isJsonEdit(edit)) return []
  const isOne = edit.op === 'add' || edit.op === 'replace' || edit.op === 'remove'
  return isOne ? fromPointer(edit.path) : null
}

/** Cuts a path before an index: items of a list move when one is added, so a list has one label. */
function beforeIndex(path: readonly FieldKey[]): readonly FieldKey[] {
  const index = path.findIndex((key) => /^(\d+|-)$/.test(String(key)))
  return index === -1 ? path : path.slice(0, index)
}

/** Whether a value that was read may decide which place changes: it is a whole edit, or an edit's `op` or `path`. */
function mayChoosePlace({ path: [, , key] }: Read, edit: Edit): boolean {
  return key === undefined || (isJsonEdit(edit) && key !== 'value')
}

/** Returns the reads of one edit, and those of the whole list. */
function readsOfEdit({ reads }: CallItem, index: number): readonly Read[] {
  return reads.filter(({ path: [key, item = index] }) => {
    return key === 'edits' && String(item) === String(index)
  })
}

function labelOf(item: CallItem, index: number): Label {
  return joinAll(readsOfEdit(item, index).map(({ labels }) => wholeOf(labels)))
}

/** Joins a label to the labels at a path: of the whole value, or only of its keys. */
function withLabelAt(
  tree: LabelTree,
  path: readonly FieldKey[],
  label: Label,
  { isWhole }: { isWhole: boolean },
): LabelTree {
  const old = treeAt(tree, path)
  const put = isWhole
    ? { label: join(wholeOf(old), label) }
    : { ...old, label: join(old.label, label) }
  return withTreeAt(tree, path, put)
}
