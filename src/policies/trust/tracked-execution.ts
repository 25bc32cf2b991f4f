import { isPlain, join, joinAll, type Label, TRUSTED, writeLabel } from '../../core/labels/label.ts'
import { type LabelTree, wholeOf } from '../../core/labels/label-tree.ts'
import type { Labels } from '../../core/labels/labels.ts'
import type { CallOutcome, Execution, ExecutionChanges } from '../policy.ts'
import { isEdit, labelEdit } from './edited-labels.ts'
import { givenTo } from './given-label.ts'
import { type NotedReads, noteReads } from './note-reads.ts'
import { labelledAssets, resultLabels } from './result-labels.ts'

/** One execution, and the labels of everything that its tool is given and reads. */
export class TrackedExecution {
  readonly #execution: Execution
  readonly #labels: Labels
  readonly #given: Label
  readonly #noted: NotedReads
  #started: { input: unknown } | null = null

  constructor(execution: Execution, labels: Labels) {
    this.#execution = execution
    this.#labels = labels
    this.#given = givenTo(execution.call, labels, execution.reads)
    this.#noted = noteReads(labels, this.#given)
    this.#keep()
  }

  /** What changes in the execution so that it is tracked. */
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

  /** Labels the outcome with everything that the tool was given and has read. */
  labelled(outcome: CallOutcome): CallOutcome {
    const { call, tool, reads, arguments: args } = this.#execution
    const whole = this.#treeOf(outcome)
    const tree = isEdit(tool, outcome)
      ? labelEdit(call, { reads, arguments: args }, { outcome, whole })
      : whole
    const events = labelledAssets(outcome.events, tree, { label: wholeOf(tree) })
    const own = this.#own()
    const kept = tool.readOnly || isPlain(own) ? {} : { given: writeLabel(own) }
    return { ...outcome, events, labels: tree, ...kept }
  }

  /** The label of what this execution was given and has read. */
  #own(): Label {
    return join(this.#given, this.#noted.label())
  }

  /** An acting tool may retain what it is given, and return it from a later call. */
  #keep(): Label {
    const { tool } = this.#execution
    return tool.readOnly ? TRUSTED : this.#labels.keep(tool.id, this.#own())
  }

  #treeOf(outcome?: CallOutcome): LabelTree {
    // A failure before the tool starts reveals only what the call was given.
    if (!this.#started) return { label: this.#given }
    const { tool, call } = this.#execution
    const { input } = this.#started
    const about = { tool, callId: call.toolCallId, input, result: outcome?.value }
    const tree = resultLabels(about, joinAll([this.#own(), this.#keep()]))
    // The error message of a tool may contain any part of what it worked with.
    return outcome && !outcome.error ? tree : { label: wholeOf(tree) }
  }
}
