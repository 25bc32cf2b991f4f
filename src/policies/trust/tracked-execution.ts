import { isEditTool } from '../../boundary/call-plan.ts'
import { isPlain, join, joinAll, type Label, TRUSTED, writeLabel } from '../../core/labels/label.ts'
import { type LabelTree, wholeOf } from '../../core/labels/label-tree.ts'
import type { Labels } from '../../core/labels/labels.ts'
import type { CallOutcome, Execution, ExecutionChanges } from '../policy.ts'
import { labelEdit } from './edited-labels.ts'
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
