import { type CallPlan, type DataPlace, isEditTool, planCall } from '../../boundary/call-plan.ts'
import { isTooLong, jsonLength, jsonValue, lostResult, previewOf } from '../../boundary/store.ts'
import { defined } from '../../core/defined.ts'
import { ByrefError, errorMessage } from '../../core/errors.ts'
import type {
  ConversationState,
  KeptOutcome,
  RunState,
} from '../../core/events/conversation-state.ts'
import type { ConversationEvent } from '../../core/events/events.ts'
import { inBackground } from '../../core/in-background.ts'
import { isPlainObject, type JsonValue } from '../../core/json/json.ts'
import {
  type LabelTree,
  readLabelTree,
  treeAt,
  wholeOf,
  writeLabelTree,
} from '../../core/labels/label-tree.ts'
import type {
  Message,
  OutputMethod,
  Participant,
  ToolResultMark,
} from '../../core/messages/message.ts'
import { isOffloaded } from '../../core/messages/offloaded.ts'
import { toMessage } from '../../core/messages/to-message.ts'
import { newId } from '../../core/new-id.ts'
import { formatVariable, type OutputTarget } from '../../core/refs/variable-ref.ts'
import { type CallOutcome, provenanceOf } from '../../policies/policy.ts'
import { callError } from '../run-errors.ts'
import type { RunScope } from '../run-scope.ts'
import type { CallEnd } from './call-graph.ts'
import { writeOfEdit } from './edited-place.ts'

/** Maximum length of a value on the board that its result repeats in full, in characters of JSON. */
const MAX_REPEATED_CHARS = 1000

/** A call with its outcome. */
export interface CallResult {
  plan: CallPlan
  outcome: CallOutcome
  /** When the call ended, in ISO 8601. It may be recorded later, because calls before it still run. */
  endedAt: string
  /** The `ref` that an edit received. */
  edited?: unknown
  /** What the model sees instead of the value. */
  modelOutput?: JsonValue
  /** Whether the value is ready for the log, and `modelOutput` is known. */
  isPrepared?: boolean
}

/** Whether the outcome of a call can be logged before its result. An edit writes to what earlier calls have left. */
export function isKeepable({ tool, each }: CallPlan): boolean {
  return tool !== null && each === undefined && !isEditTool(tool)
}

/**
 * Logs the outcome of a call whose result waits for those of earlier calls, so that nothing is lost if the process dies
 * or the run is cancelled.
 */
export async function keepOutcome(scope: RunScope, result: CallResult): Promise<CallResult> {
  const ready = await scope.during(() => prepared(result, scope))
  const { plan, outcome, modelOutput } = ready
  const { value, error, chosen } = outcome
  const finished = {
    type: 'TOOL_FINISHED' as const,
    toolCallId: plan.id,
    runId: scope.runId,
    ...(error ? { error } : { value: value as JsonValue }),
    ...defined({ modelOutput, chosen }),
    ...provenanceOf(outcome),
  }
  await scope.append({ events: [...outcome.events, finished] })
  return { ...ready, outcome: { ...outcome, events: [] }, isPrepared: true }
}

/** Returns the result of a call whose outcome was logged before. */
export function keptResult(plan: CallPlan, kept: KeptOutcome): CallResult {
  const { value, error, chosen, label, retained, modelOutput, at } = kept
  const about = { events: [], chosen, labels: label && readLabelTree(label), retained }
  const outcome: CallOutcome = error ? { ...about, error } : { ...about, value }
  return { plan, outcome, endedAt: at, modelOutput, isPrepared: true }
}

/** Returns the results of calls that have ended, for a run that ends before earlier calls do. Nothing is written. */
export function keptResults({ calls }: ConversationState, run: RunState): ConversationEvent[] {
  return (run.steps.at(-1)?.callIds ?? []).flatMap((id) => {
    const { call, outcome, approval } = calls[id] ?? {}
    if (!call || !outcome) return []
    const result = keptResult(planCall(call, new Map()), outcome)
    const payload = resultOf(result, [], approval?.answer?.arguments)
    return [{ type: 'NEW_MESSAGE' as const, payload, ...provenanceOf(result.outcome) }]
  })
}

/**
 * Logs the outcomes of calls, in their order. Each call has one append, with its assets, its writes to the board and
 * its result.
 *
 * @param ended Called when the outcome of a call is logged.
 */
export async function recordCalls(
  scope: RunScope,
  results: readonly CallResult[],
  ended: (plan: CallPlan, end: CallEnd) => void,
): Promise<void> {
  const ready = await scope.during(() =>
    Promise.all(results.map((result) => prepared(result, scope))),
  )
  const appending: Promise<void>[] = []
  for (const result of ready) {
    const { plan } = result
    const appended = append(scope, result).then((end) => ended(plan, end))
    appending.push(appended)
    // The board may reject a write, so wait before the next append. All are awaited, so that no rejection is lost.
    if (plan.outputs.length > 0) await Promise.all(appending)
  }
  await Promise.all(appending)
}

/** Error codes with which the board rejects a value. The model can act on them. */
const REJECTIONS: ReadonlySet<string> = new Set([
  'schema_violation',
  'invalid_data',
  'invalid_message',
  'edit_rejected',
])

/** Whether the board, not the log, has rejected an append. */
export function isRejection(error: unknown): error is ByrefError {
  return error instanceof ByrefError && REJECTIONS.has(error.code)
}

/**
 * Appends the outcome of one call. If the board rejects what it writes, appends that error instead, and without a write
 * if the board rejects the error, too.
 */
async function append(scope: RunScope, result: CallResult): Promise<CallEnd> {
  try {
    return await appendOutcome(scope, result)
  } catch (error) {
    if (!isRejection(error) || result.plan.outputs.length === 0) throw error
    return append(scope, await notWritten(scope, result, error))
  }
}

/** Returns the result of a call whose value the board has rejected. The error names the value, so that it is not lost. */
async function notWritten(
  scope: RunScope,
  result: CallResult,
  error: ByrefError,
): Promise<CallResult> {
  const { plan, outcome, modelOutput } = result
  if (outcome.error) {
    const message = `${outcome.error.message} (This error was not written: ${error.message})`
    const failed = { ...outcome, error: { ...outcome.error, message } }
    return { ...result, plan: { ...plan, outputs: [] }, outcome: failed }
  }
  if (plan.edit !== undefined || isEditedValue(plan, outcome.value))
    return failedAfter(result, error)
  const storing = { tool: plan.name, toolCallId: plan.id, maxResultChars: MAX_REPEATED_CHARS }
  const shown = { ...outcome, value: modelOutput ?? outcome.value }
  const kept = await scope.boundary.offload(storing, shown)
  const { value } = kept
  const text = isOffloaded(value) ? value.assetRef : JSON.stringify(value)
  const { code, message } = error
  const told = `${message} The tool has run, and only this write failed. Its result: ${text}`
  return failedAfter({ ...result, outcome: kept }, new ByrefError(code, told))
}

/**
 * Returns the result of a call that succeeded, but whose value could not be logged. Its error may quote the value, so it
 * keeps the value's label.
 */
function failedAfter({ plan, outcome, endedAt }: CallResult, error: unknown): CallResult {
  const { events, labels, retained } = outcome
  const label = labels && { label: wholeOf(labels) }
  return { plan, endedAt, outcome: { events, error: callError(error), labels: label, retained } }
}

async function appendOutcome(scope: RunScope, ended: CallResult): Promise<CallEnd> {
  const { plan, outcome } = ended
  const write = writeOfResult(ended, scope)
  const { targets } = write
  const { arguments: changed } = scope.session.state.calls[plan.id]?.approval?.answer ?? {}
  const message = resultOf(ended, targets, changed)
  const { labels } = outcome
  const dataLabel = labels ? { label: writeLabelTree(write.labels ?? labels) } : {}
  const writes = targets.map((target) => {
    const payload = dataMessage(plan, { target, ...write })
    return { type: 'NEW_MESSAGE' as const, payload, ...dataLabel }
  })
  const result = { type: 'NEW_MESSAGE' as const, payload: message, ...provenanceOf(outcome) }
  const events = [...outcome.events, ...writes, result]
  await scope.append({ events })
  const notified = scope.stream({
    type: 'TOOL_CALL_RESULT',
    messageId: message.id,
    toolCallId: plan.id,
    role: 'tool',
    content: JSON.stringify(message.metadata.tool_result?.error ?? message.content),
  })
  inBackground('Telling handlers of a result', notified)
  return { failed: outcome.error !== undefined, written: targets }
}

/**
 * Returns where a result is written. Unless the tool has chosen an alternative of `_outputPath`, a value goes to the
 * first one and an error to the second one.
 */
function targetsOf({ plan, outcome }: CallResult): readonly OutputTarget[] {
  return plan.outputs[outcome.chosen ?? (outcome.error ? 1 : 0)] ?? []
}

/** What a call writes to the board. */
interface Write {
  targets: readonly DataPlace[]
  data: unknown
  method: OutputMethod
  /** The labels of the data, if they are not those of the result. */
  labels?: LabelTree
}

/**
 * Returns what a call writes. An edit writes the new version in place of the old one.
 *
 * @throws ByrefError `edit_rejected` if the old version is no longer there
 */
function writeOfResult(ended: CallResult, { session }: RunScope): Write {
  const { plan, outcome, edited } = ended
  const targets = targetsOf(ended)
  const { value, error, labels } = outcome
  if (error) return { targets, data: error, method: 'set' }
  const { outputMethod: method, edit } = plan
  const editLabels = labels && labelsOfEdit(labels, value)
  if (edit?.place) {
    const { place, data } = writeOfEdit(session.board, edit.place, { edited, value })
    return { targets: [place], data: withoutPreview(data), method, labels: editLabels }
  }
  if (!isEditedValue(plan, value)) return { targets, data: withoutPreview(value), method }
  return { targets, data: withoutPreview(value.value), method, labels: editLabels }
}

/** Returns the labels of what an edit writes: the new value, or a reference to the new version. */
function labelsOfEdit(labels: LabelTree, result: unknown): LabelTree {
  const isValue = 'value' in Object(result)
  return isValue ? treeAt(labels, ['value']) : { label: wholeOf(labels) }
}

/** Returns the data message that writes a result to the board. */
function dataMessage(
  plan: CallPlan,
  { target, data, method }: Write & { target: DataPlace },
): Message {
  return toMessage({
    type: 'data',
    kind: target.kind,
    ...(target.instance === undefined ? {} : { _instance: target.instance }),
    data,
    ...(target.path.length > 0 ? { _path: [...target.path] } : {}),
    _call: plan.id,
    _date: new Date().toISOString(),
    _outputMethod: method,
    sender: senderOf(plan.name),
  })
}

function withoutPreview(value: unknown): unknown {
  if (!isOffloaded(value)) return value
  const { preview: _, ...rest } = value
  return rest
}

/** Offloads a result that is too large for a prompt, and computes what the model sees instead. */
async function prepared(result: CallResult, scope: RunScope): Promise<CallResult> {
  const { plan, outcome } = result
  if (outcome.error || result.isPrepared) return result
  let modelOutput: JsonValue | undefined
  try {
    modelOutput = modelOutputOf(plan, outcome.value)
  } catch (error) {
    return failedAfter(result, error)
  }
  try {
    if (!mayOffload(result, scope)) return { ...result, modelOutput }
    const { maxResultChars } = plan.tool ?? {}
    const storing = { tool: plan.name, toolCallId: plan.id, maxResultChars }
    const { boundary } = scope
    const { value, labels } = outcome
    if (!isEditedValue(plan, value)) {
      return { ...result, outcome: await boundary.offload(storing, outcome), modelOutput }
    }
    // Only the new value becomes data.
    const label = labels && labelsOfEdit(labels, value)
    const data = await boundary.offload(storing, { ...outcome, value: value.value, labels: label })
    return { ...result, outcome: { ...data, labels, value: { ...value, value: data.value } } }
  } catch (error) {
    return failedAfter(result, lostResult(error))
  }
}

/**
 * Whether the value may be replaced by a reference. On the board, a value that is merged or has a schema must not be.
 */
function mayOffload(result: CallResult, { session }: RunScope): boolean {
  const { plan, outcome } = result
  const targets = targetsOf(result)
  if (targets.length === 0 || outcome.error || !isTooLong(outcome.value, plan.tool?.maxResultChars))
    return true
  if (plan.outputMethod !== 'set' && plan.outputMethod !== 'push') return false
  const kinds = new Set(targets.map(({ kind }) => kind))
  return !session.board.entries().some(({ kind, schema }) => schema && kinds.has(kind))
}

/**
 * Returns the result of the tool's `toModelOutput`, for each item of a mapped call; undefined if the tool has none.
 */
function modelOutputOf(plan: CallPlan, value: unknown): JsonValue | undefined {
  const { tool, each } = plan
  if (!tool?.toModelOutput) return undefined
  const show = (result: unknown): JsonValue => {
    const isFailure = each !== undefined && isPlainObject(result) && result.error !== undefined
    if (isFailure || isOffloaded(result)) return result as JsonValue
    const shown = jsonValue(tool.toModelOutput?.(result as JsonValue))
    return (isTooLong(shown, tool.maxResultChars) ? previewOf(shown) : shown) as JsonValue
  }
  try {
    return each === undefined ? show(value) : (value as unknown[]).map(show)
  } catch (error) {
    throw new ByrefError(
      'tool_failed',
      `The tool ran, but its toModelOutput failed: ${errorMessage(error)}`,
      { cause: error },
    )
  }
}

/** @param changed The arguments with which a person replaced those of the call. */
function resultOf(
  result: CallResult,
  targets: readonly DataPlace[],
  changed: JsonValue | undefined,
): Message {
  const { outcome, modelOutput: model_output } = result
  const written_to = targets.map((target) => formatVariable(target, target.path))
  const mark = {
    ...(targets.length > 0 ? { written_to } : {}),
    ...(changed === undefined
      ? {}
      : {
          changed_arguments: isShort(changed) ? changed : previewOf(changed),
        }),
  }
  if (outcome.error) {
    const { code, message } = outcome.error
    const where = targets.length > 0 ? ` (this error is written to ${written_to.join(', ')})` : ''
    const error = { code, message: `${message}${where}` }
    return resultMessage(result, null, { ...mark, error })
  }
  const { value } = outcome
  if (result.plan.edit?.place || isEditedValue(result.plan, value))
    return resultMessage(result, { ...mark, ...withoutValue(value) }, mark)
  const shown = model_output === undefined ? mark : { ...mark, model_output }
  return resultMessage(result, targets.length > 0 ? { ...mark, ...shortForm(value) } : value, shown)
}

/** Whether a result contains a new value for the board, as `edit_asset` returns it: `{ value, changes, diff }`. */
function isEditedValue({ tool, outputs }: CallPlan, value: unknown): value is { value: unknown } {
  const isWritten = tool !== null && isEditTool(tool) && outputs.length > 0
  return isWritten && isPlainObject(value) && 'value' in value
}

/** Returns the result of an edit as the model sees it: the diff, without the value. */
function withoutValue(edited: unknown): object {
  const { value: _, ...shown } = Object(edited)
  return shown
}

/** Returns how a result repeats a value that was written to the board: the value if it is short, else a preview. */
function shortForm(
  value: unknown,
): { value: unknown } | { assetRef?: string; offloaded?: true; preview: unknown } {
  if (isOffloaded(value)) {
    const { assetRef, offloaded, preview } = value
    return { assetRef, offloaded, preview }
  }
  return isShort(value) ? { value } : { preview: previewOf(value) }
}

function isShort(value: unknown): boolean {
  return jsonLength(value, MAX_REPEATED_CHARS) <= MAX_REPEATED_CHARS
}

function resultMessage(
  { plan: { id, name }, endedAt }: CallResult,
  content: unknown,
  mark: Omit<ToolResultMark, 'tool_call_id'>,
): Message {
  const isText = typeof content === 'string'
  return {
    id: newId(),
    sender: senderOf(name),
    message_type: 'note',
    content_type: isText ? 'text/plain' : 'application/json',
    content,
    timestamp: endedAt,
    metadata: { tool_result: { tool_call_id: id, ...mark } },
  }
}

function senderOf(name: string): Participant {
  return { participant_id: name, participant_role: 'tool', name }
}
