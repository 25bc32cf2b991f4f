import { boundaryOf } from '../../boundary/boundary.ts'
import type { CallPlan } from '../../boundary/call-plan.ts'
import { isTooLong, jsonLength, jsonValue, previewOf } from '../../boundary/store.ts'
import { ByrefError, errorMessage } from '../../core/errors.ts'
import { inBackground } from '../../core/in-background.ts'
import { isPlainObject, type JsonValue } from '../../core/json/json.ts'
import { wholeOf, writeLabelTree } from '../../core/labels/label-tree.ts'
import type { Message, Participant, ToolResultMark } from '../../core/messages/message.ts'
import { isOffloaded } from '../../core/messages/offloaded.ts'
import { toMessage } from '../../core/messages/to-message.ts'
import { newId } from '../../core/new-id.ts'
import type { OutputTarget } from '../../core/refs/output-path.ts'
import { formatVariable } from '../../core/refs/variable-ref.ts'
import type { CallOutcome } from '../../policies/policy.ts'
import type { RunScope } from '../run-scope.ts'
import { callError } from './call-error.ts'
import type { CallEnd } from './call-graph.ts'

/** A value that is written among the data is shown to the model as it is up to so many characters of JSON. */
const SHOWN_CHARS = 1000

/** A call and what it came to. */
export interface CallResult {
  plan: CallPlan
  outcome: CallOutcome
  /** What the model is shown instead of the value. */
  modelOutput?: JsonValue
}

/**
 * Logs what calls came to, in their order: for each its assets, what it writes among the data, and its result, in one
 * append. `ended` hears how each call ended.
 */
export async function recordCalls(
  scope: RunScope,
  results: readonly CallResult[],
  ended: (plan: CallPlan, end: CallEnd) => void,
): Promise<void> {
  const ready = await scope.during(() =>
    Promise.all(results.map((result) => shortened(result, scope))),
  )
  const appending: Promise<void>[] = []
  for (const result of ready) {
    const { plan } = result
    const appended = append(scope, result).then((end) => ended(plan, end))
    appending.push(appended)
    // What the data may refuse is known before the next one is appended. All are awaited, so that no rejection is lost.
    if (plan.outputs.length > 0) await Promise.all(appending)
  }
  await Promise.all(appending)
}

/** What the data say no to, with reasons that a model can act on. */
const REFUSALS: ReadonlySet<string> = new Set([
  'schema_violation',
  'invalid_data',
  'invalid_message',
])

/** Whether it is the data that refused what was to be appended, not the log. */
export function isRefusal(error: unknown): error is ByrefError {
  return error instanceof ByrefError && REFUSALS.has(error.code)
}

/** Appends one call's result; where the data refuse what it writes, that it was refused. */
async function append(scope: RunScope, result: CallResult): Promise<CallEnd> {
  try {
    return await appendOutcome(scope, result)
  } catch (error) {
    if (!isRefusal(error)) throw error
    const { plan, outcome } = result
    // Why the board rejects a value may tell what is in it.
    return appendOutcome(scope, { plan, outcome: failedAfter(outcome, error) })
  }
}

/** What a call that worked comes to where its result cannot be logged. */
function failedAfter({ events, labels, given }: CallOutcome, error: unknown): CallOutcome {
  const label = labels && { label: wholeOf(labels) }
  return { events, error: callError(error), labels: label, given }
}

async function appendOutcome(scope: RunScope, ended: CallResult): Promise<CallEnd> {
  const { plan, outcome } = ended
  const targets = targetsOf(ended)
  const message = resultOf(ended, targets)
  for (const target of targets) refuseWithinAsset(scope, target)
  const written = targets.map((target) => writeOf(plan, outcome, target))
  const { labels, given } = outcome
  const label = labels ? { label: writeLabelTree(labels) } : {}
  const writes = written.map((payload) => ({ type: 'NEW_MESSAGE' as const, payload, ...label }))
  const kept = given ? { given } : {}
  const result = { type: 'NEW_MESSAGE' as const, payload: message, ...label, ...kept }
  const events = [...outcome.events, ...writes, result]
  await scope.append({ events })
  const told = scope.stream({
    type: 'TOOL_CALL_RESULT',
    messageId: message.id,
    toolCallId: plan.id,
    role: 'tool',
    content: JSON.stringify(message.metadata.tool_result?.error ?? message.content),
  })
  inBackground('Telling handlers of a result', told)
  return { failed: outcome.error !== undefined, written: targets }
}

/**
 * A value that is kept as an asset is not written into.
 *
 * @throws ByrefError `invalid_data`
 */
function refuseWithinAsset({ session }: RunScope, { path, ...place }: OutputTarget): void {
  for (let length = 0; length < path.length; length++) {
    const name = formatVariable(place, path.slice(0, length))
    if (!session.board.has(name)) return
    if (!isOffloaded(session.board.read(name))) continue
    throw new ByrefError(
      'invalid_data',
      `${name} is kept as an asset, which never changes: write the whole of ${name} anew, or somewhere else`,
    )
  }
}

/** Where a result is written: success to the first alternative, an error to the second, unless the tool chose. */
function targetsOf({ plan, outcome }: CallResult): readonly OutputTarget[] {
  return plan.outputs[outcome.chosen ?? (outcome.error ? 1 : 0)] ?? []
}

/** The data message of a result. */
function writeOf(plan: CallPlan, outcome: CallOutcome, target: OutputTarget): Message {
  return toMessage({
    type: 'data',
    kind: target.kind,
    ...(target.instance === undefined ? {} : { _instance: target.instance }),
    data: outcome.error ? outcome.error : withoutPreview(outcome.value),
    ...(target.path.length > 0 ? { _path: target.path } : {}),
    _call: plan.id,
    _date: new Date().toISOString(),
    _outputMethod: outcome.error ? 'set' : plan.outputMethod,
    sender: senderOf(plan.name),
  })
}

function withoutPreview(value: unknown): unknown {
  if (!isOffloaded(value)) return value
  const { preview: _, ...stand } = value
  return stand
}

/** A result that is too large for a prompt as an asset and what stands for it, and what the model is shown instead. */
async function shortened(result: CallResult, scope: RunScope): Promise<CallResult> {
  const { plan, outcome } = result
  if (outcome.error) return result
  try {
    const modelOutput = modelOutputOf(plan, outcome.value)
    if (!mayOffload(result, scope)) return { plan, outcome, modelOutput }
    const { maxResultChars } = plan.tool ?? {}
    const storing = { tool: plan.name, toolCallId: plan.id, maxResultChars }
    const offloaded = await boundaryOf(() => scope.assets).offload(storing, outcome)
    return { plan, outcome: offloaded, modelOutput }
  } catch (error) {
    return { plan, outcome: failedAfter(outcome, error) }
  }
}

/**
 * Whether an asset may stand for the value: among the data not for one that is merged with others, nor for one that a
 * schema binds.
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

/** What the tool wants the model to be shown, of a mapped call for each item; undefined where it wants nothing. */
function modelOutputOf(plan: CallPlan, value: unknown): JsonValue | undefined {
  const { tool, each } = plan
  if (!tool?.toModelOutput) return undefined
  const show = (one: unknown): JsonValue => {
    const isFailure = each !== undefined && isPlainObject(one) && one.error !== undefined
    if (isFailure || isOffloaded(one)) return one as JsonValue
    const shown = jsonValue(tool.toModelOutput?.(one as JsonValue))
    return (isTooLong(shown, tool.maxResultChars) ? previewOf(shown) : shown) as JsonValue
  }
  try {
    return each === undefined ? show(value) : (value as unknown[]).map(show)
  } catch (error) {
    throw new ByrefError(
      'tool_failed',
      `The tool did its work, and its toModelOutput failed: ${errorMessage(error)}`,
      { cause: error },
    )
  }
}

function resultOf(result: CallResult, targets: readonly OutputTarget[]): Message {
  const { plan, outcome, modelOutput: model_output } = result
  const written_to = targets.map((target) => formatVariable(target, target.path))
  const mark = targets.length > 0 ? { written_to } : {}
  if (outcome.error) {
    const { code, message } = outcome.error
    const where = targets.length > 0 ? ` (this error is written to ${written_to.join(', ')})` : ''
    return resultMessage(plan, null, { ...mark, error: { code, message: `${message}${where}` } })
  }
  const { value } = outcome
  const shown = model_output === undefined ? mark : { ...mark, model_output }
  return resultMessage(plan, targets.length > 0 ? { ...mark, ...inShort(value) } : value, shown)
}

/** A value that is among the data, as the result says it again: as it is, if it is short. */
function inShort(
  value: unknown,
): { value: unknown } | { assetRef?: string; offloaded?: true; preview: unknown } {
  if (isOffloaded(value)) {
    const { assetRef, offloaded, preview } = value
    return { assetRef, offloaded, preview }
  }
  return jsonLength(value, SHOWN_CHARS) <= SHOWN_CHARS ? { value } : { preview: previewOf(value) }
}

function resultMessage(
  { id, name }: CallPlan,
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
    timestamp: new Date().toISOString(),
    metadata: { tool_result: { tool_call_id: id, ...mark } },
  }
}

function senderOf(name: string): Participant {
  return { participant_id: name, participant_role: 'tool', name }
}

/** What calls came to that is not recorded yet: it is recorded in the order of the answer. */
export interface EndedCalls {
  /** The next call of the answer. */
  expect(id: string): void
  add(result: CallResult): void
  readonly isEmpty: boolean
  /** Records what has ended, as far as its turn has come; to be asked again whenever calls come or are held. */
  record(): Promise<void>
}

/** Begins with the calls that there are. */
export function createEndedCalls(
  ids: readonly string[],
  options: {
    takeTurn(id: string): boolean
    record(results: readonly CallResult[]): Promise<void>
  },
): EndedCalls {
  const ended: CallResult[] = []
  const order = new Map(ids.map((id, i) => [id, i]))
  const placeOf = ({ plan }: CallResult): number => order.get(plan.id) ?? 0
  let isRecording = false

  /** The results whose turn it is. */
  function inTurn(): CallResult[] {
    const results = ended.filter(({ plan }) => options.takeTurn(plan.id))
    for (const result of results) ended.splice(ended.indexOf(result), 1)
    return results
  }

  return {
    expect(id) {
      order.set(id, order.size)
    },
    add(result) {
      const place = placeOf(result)
      const at = ended.findLastIndex((one) => placeOf(one) < place)
      ended.splice(at + 1, 0, result)
    },
    get isEmpty() {
      return ended.length === 0
    },
    async record() {
      if (isRecording) return
      isRecording = true
      for (let results = inTurn(); results.length > 0; results = inTurn()) {
        await options.record(results)
      }
      isRecording = false
    },
  }
}
