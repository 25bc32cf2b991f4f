import type { Assets } from '../../assets/assets-contract.ts'
import { metaOf } from '../../content/asset-meta.ts'
import type { CallError, ConversationEvent } from '../../content/events.ts'
import type { Message, Participant } from '../../content/message.ts'
import { newId } from '../../content/new-id.ts'
import { outline } from '../../content/outline.ts'
import type { OutputTarget } from '../../content/output-path.ts'
import { toMessage } from '../../content/to-message.ts'
import { ByrefError } from '../../errors.ts'
import { formatVariableRef } from '../../refs/variable-ref.ts'
import type { RunScope } from '../run-scope.ts'
import type { Tool } from '../tools/tool.ts'
import { callError } from './call-error.ts'
import type { CallEnd } from './call-graph.ts'
import type { CallPlan } from './call-plan.ts'
import type { CallOutcome } from './execute-call.ts'
import { jsonLength } from './json-length.ts'

/** A result whose JSON is longer becomes an asset, unless its tool says otherwise (spec X7). */
const MAX_RESULT_CHARS = 32 * 1024

/** How much of a value a preview shows, and how long its JSON may be. */
const PREVIEW = { items: 3, text: 200, chars: 4 * 1024 }

/** A call and what it came to. */
export interface CallResult {
  plan: CallPlan
  outcome: CallOutcome
}

/**
 * Logs what calls came to, in their order: for each its assets, what it writes among the data, and its result, in one
 * append. `ended` hears how each call ended.
 *
 * @param how `isLast`: no other call of the answer is open, so that what is due next may go with the last of these.
 *   `patient`: the answer still streams, so that they may go with its end, if that comes at once.
 */
export async function recordCalls(
  scope: RunScope,
  results: readonly CallResult[],
  { isLast, patient }: { isLast: boolean; patient: boolean },
  ended: (plan: CallPlan, end: CallEnd) => void,
): Promise<void> {
  const ready = await Promise.all(results.map((result) => spilled(result, scope.assets)))
  const appending: Promise<void>[] = []
  for (const [i, { plan, outcome }] of ready.entries()) {
    const followed = isLast && i === ready.length - 1
    const how = { followed, patient: patient && plan.outputs.length === 0 }
    const appended = append(scope, plan, outcome, how).then((end) => ended(plan, end))
    // What the data may refuse is known before the next one is appended.
    if (plan.outputs.length > 0) await appended
    appending.push(appended)
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
async function append(
  scope: RunScope,
  plan: CallPlan,
  outcome: CallOutcome,
  how: { followed: boolean; patient: boolean },
): Promise<CallEnd> {
  try {
    return await appendOutcome(scope, plan, outcome, how)
  } catch (error) {
    if (!isRefusal(error)) throw error
    return appendOutcome(scope, plan, { events: outcome.events, error: callError(error) }, how)
  }
}

async function appendOutcome(
  scope: RunScope,
  plan: CallPlan,
  outcome: CallOutcome,
  how: { followed: boolean; patient: boolean },
): Promise<CallEnd> {
  const isFailure = 'error' in outcome
  const targets = plan.outputs[outcome.chosen ?? (isFailure ? 1 : 0)] ?? []
  const result = resultOf(plan, outcome, targets)
  const written = targets.map((target) => writeOf(plan, outcome, target))
  const events = [...outcome.events, ...[...written, result].map(created)]
  await scope.append({ events }, how)
  void scope.stream({
    type: 'TOOL_CALL_RESULT',
    messageId: result.id,
    toolCallId: plan.id,
    role: 'tool',
    content: JSON.stringify(result.metadata.tool_result?.error ?? result.content),
  })
  return { failed: isFailure, written: targets }
}

/** The data message of a result: success to the first alternative, an error to the second (spec D8). */
function writeOf(plan: CallPlan, outcome: CallOutcome, target: OutputTarget): Message {
  return toMessage({
    type: 'data',
    kind: target.kind,
    ...(target.instance === undefined ? {} : { _instance: target.instance }),
    data: 'error' in outcome ? outcome.error : outcome.value,
    ...(target.path.length > 0 ? { _path: target.path } : {}),
    _call: plan.id,
    _date: new Date().toISOString(),
    _outputMethod: 'error' in outcome ? 'set' : plan.outputMethod,
    sender: senderOf(plan.name),
  })
}

/** A result too large for a prompt as an asset and what stands for it; any other, or one that is written, as it is. */
async function spilled({ plan, outcome }: CallResult, assets: Assets): Promise<CallResult> {
  const isWritten = (plan.outputs[outcome.chosen ?? 0] ?? []).length > 0
  if ('error' in outcome || isWritten) return { plan, outcome }
  try {
    return { plan, outcome: await spill(outcome, plan, { assets, toolCallId: plan.id }) }
  } catch (error) {
    return { plan, outcome: { events: outcome.events, error: callError(error) } }
  }
}

/** The value as an asset where its JSON is longer than its tool's results may be. */
export async function spill(
  outcome: CallOutcome & { value: unknown },
  { tool, name }: CallPlan,
  { assets, toolCallId }: { assets: Assets; toolCallId: string },
): Promise<CallOutcome & { value: unknown }> {
  const { value } = outcome
  const { maxResultChars = MAX_RESULT_CHARS } = (tool ?? {}) as Partial<Tool>
  if (jsonLength(value, maxResultChars) <= maxResultChars) return outcome
  const events: ConversationEvent[] = [...outcome.events]
  const onEvent = (event: ConversationEvent): void => void events.push(event)
  const scoped = assets.scoped({ by: 'tool', tool: name, toolCallId, onEvent })
  const { ref, size } = await scoped.saveAsset({
    asset_type: 'tool_result',
    asset_name: `${name} result`,
    content_type: 'application/json',
    content: value,
  })
  const preview = previewOf(value)
  const stand = { assetRef: ref, mimeType: 'application/json', kind: 'file', size, preview }
  return { ...outcome, events, value: stand }
}

/** The value in short: its meta, or the first fields of it as flattened lines. */
function previewOf(value: unknown): unknown {
  const { items, text, chars } = PREVIEW
  const meta = metaOf(value, { items, text })
  if (typeof meta !== 'object' || meta === null) return meta
  if (JSON.stringify(meta).length <= chars) return meta
  const { lines, complete } = outline(meta, { items, text, maxChars: chars })
  return complete ? lines : { ...lines, '…': 'more fields are left out' }
}

function resultOf(plan: CallPlan, outcome: CallOutcome, targets: readonly OutputTarget[]): Message {
  if ('error' in outcome) return resultMessage(plan, null, outcome.error)
  if (targets.length === 0) return resultMessage(plan, outcome.value)
  const written_to = targets.map((target) => formatVariableRef({ type: 'variable', ...target }))
  return resultMessage(plan, { written_to, preview: previewOf(outcome.value) })
}

function resultMessage({ id, name }: CallPlan, content: unknown, error?: CallError): Message {
  const isText = typeof content === 'string'
  return {
    id: newId(),
    sender: senderOf(name),
    message_type: 'note',
    content_type: isText ? 'text/plain' : 'application/json',
    content,
    timestamp: new Date().toISOString(),
    metadata: { tool_result: { tool_call_id: id, ...(error ? { error } : {}) } },
  }
}

function senderOf(name: string): Participant {
  return { participant_id: name, participant_role: 'tool', name }
}

function created(message: Message): ConversationEvent {
  return { type: 'NEW_MESSAGE', payload: message }
}
