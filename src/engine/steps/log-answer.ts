import type { Assets } from '../../assets/assets-contract.ts'
import { extractAssets } from '../../assets/extract/extract.ts'
import { mayBecomeAsset } from '../../assets/extract/may-hold-assets.ts'
import { declaresReferences } from '../../boundary/resolve-assets.ts'
import {
  type ConversationState,
  openRun,
  type RunState,
  type StepState,
} from '../../core/events/conversation-state.ts'
import type { AssetEvent, ConversationEvent, TokenUsage } from '../../core/events/events.ts'
import { writeLabel } from '../../core/labels/label.ts'
import type { Attachment, Message, MessageMetadata, ToolCall } from '../../core/messages/message.ts'
import type { AnswerPart } from '../../core/messages/read-metadata.ts'
import { sourceOf } from '../calls/active-call.ts'
import { finalText, readOutput } from '../output/output-schema.ts'
import { type OutputSource, resolveOutput } from '../output/run-output.ts'
import { type FailedStep, RunLostError } from '../run-errors.ts'
import type { RunScope } from '../run-scope.ts'
import type { PreparedStep } from './prepare-step.ts'
import type { ModelResponse } from './read-response.ts'

/** Logs a complete answer of the model, and the end of its step. */
export async function logAnswer(
  { scope, changed }: PreparedStep,
  messageId: string,
  response: ModelResponse,
): Promise<void> {
  const { runId, signal } = scope
  const { usage, finishReason } = response
  const { events, attachments, text }: SavedAnswer =
    response.files.length > 0 || mayBecomeAsset(response.text)
      ? await scope.during(() => {
          const assets = modelAssets(scope, messageId)
          return saveModelFiles(response, { assets, signal, messageId })
        })
      : { events: [], attachments: [], text: response.text }
  const outputProblem = await outputProblemOf(scope, { ...response, text })
  const provider = changed ? { ...response.provider, changed } : response.provider
  const about = { ...modelOf({ changed }), ...requestsOf(response) }
  const checked = outputProblem === null ? about : { ...about, outputProblem }
  await scope.append((state) => {
    const { step, stepName } = openStep(state, messageId)
    const calls = step ? loggedCalls(state, step) : []
    const attribution = openRun(state)?.attribution
    const answer = { ...response, text }
    const payload = assistantMessage(messageId, answer, { calls, attachments, attribution })
    return {
      events: [
        ...events,
        { type: 'NEW_MESSAGE', payload },
        { type: 'STEP_FINISHED', stepName, runId, messageId, usage, finishReason, ...checked },
      ],
      debug: provider ? { [messageId]: provider } : undefined,
    }
  })
}

/** Returns why the values that an answer refers to do not match the output schema. Null if they do. */
async function outputProblemOf(
  scope: RunScope,
  { text, parts }: Pick<ModelResponse, 'text' | 'parts'>,
): Promise<string | null> {
  const { session, assets } = scope
  const schema = openRun(session.state)?.overrides?.output
  if (!schema || !declaresReferences(schema)) return null
  const answer = readOutput(finalText(text, parts), schema)
  if (answer.problem !== undefined) return null
  const source = (): OutputSource => ({ values: sourceOf(scope, { id: '' }), assets })
  const { problem } = await scope.during(() => resolveOutput(answer.value, schema, source))
  // The problem may quote a value that the model must not see.
  return problem !== undefined && session.labels ? HIDDEN_PROBLEM : (problem ?? null)
}

const HIDDEN_PROBLEM = 'a reference in it does not exist, or its value does not match the schema'

const NO_USAGE = { inputTokens: null, outputTokens: null }

/** Returns the name of the model in the events of a step. Empty for the model of the run. */
export function modelOf({ changed }: Pick<PreparedStep, 'changed'>): { model?: string } {
  return changed?.model ? { model: changed.model.modelId } : {}
}

/** Returns the number of requests for the events of a step. Empty for one. */
export function requestsOf({ requests }: Pick<ModelResponse, 'requests'>): { requests?: number } {
  return requests > 1 ? { requests } : {}
}

/**
 * Logs the part of an interrupted answer that was received. Its calls are in the log already.
 *
 * @param failed Its usage. Default: unknown.
 */
export async function logBrokenAnswer(
  scope: RunScope,
  messageId: string,
  failed: FailedStep = { messageId, usage: NO_USAGE },
): Promise<void> {
  await scope.append((state) => {
    const run = openRun(state)
    // Another append in the same batch may have ended the run.
    if (!run) throw new RunLostError()
    return { events: [...unfinishedMessage(state, run), failedStepEnd(state, run, failed)] }
  })
}

/** Returns the end of a step whose answer is incomplete or invalid. */
export function failedStepEnd(
  state: ConversationState,
  { runId }: RunState,
  failed: FailedStep,
): ConversationEvent {
  const { stepName } = openStep(state, failed.messageId)
  return { type: 'STEP_FINISHED', stepName, runId, finishReason: 'error', ...failed }
}

/** Returns assets that label each saved value with the label of everything that the model has seen. */
export function modelAssets({ assets, session: { labels } }: RunScope, messageId: string): Assets {
  if (!labels) return assets
  return assets.scoped({ label: () => writeLabel(labels.context(messageId)) })
}

/** A model's files and text, as they are logged. */
export interface SavedAnswer {
  events: AssetEvent[]
  attachments: Attachment[]
  /** The text, with a reference in place of each data URL. */
  text: string
}

/**
 * Saves the files that a model generated, and the data URLs in its text, as assets. If one cannot be decoded, only its
 * `ASSET_ERROR` remains.
 */
export async function saveModelFiles(
  { files, text }: Pick<ModelResponse, 'files' | 'text'>,
  { assets, signal, messageId }: { assets: Assets; signal: AbortSignal; messageId: string },
): Promise<SavedAnswer> {
  const events: AssetEvent[] = []
  const onEvent = (event: AssetEvent): void => {
    if (event.type === 'ASSET_CREATED') event.payload.messageId = messageId
    events.push(event)
  }
  const scoped = assets.scoped({ by: 'agent', onEvent })
  const found = files.map(({ mediaType, data }) => ({ type: 'file', mediaType, data }))
  const { value } = await extractAssets([text, ...found], { assets: scoped, by: 'agent', signal })
  const [savedText, ...saved] = value as [SavedText, ...SavedFile[]]
  const attachments = saved.flatMap(({ type, ...file }) => (file.assetRef ? [file] : []))
  return { events, attachments, text: textOf(savedText) }
}

type SavedFile = { type: 'file' } & (Attachment | { assetRef?: undefined })
type SavedText = string | { assetRef?: string; assetError?: { message: string } }

/** Returns the text. If the whole text was a data URL, returns the reference that replaced it. */
function textOf(saved: SavedText): string {
  if (typeof saved === 'string') return saved
  const { assetRef, assetError } = saved
  return assetRef === undefined ? `[asset error: ${assetError?.message}]` : `<|${assetRef}|>`
}

/** Returns the message of a complete answer. */
export function assistantMessage(
  id: string,
  { text, reasoning, parts = [], sources = [], usage }: ModelResponse,
  logged: {
    calls: readonly ToolCall[]
    attachments: readonly Attachment[]
    attribution: string | undefined
  },
): Message {
  const { calls, attachments, attribution } = logged
  const order = parts.filter((part) => part.type !== 'text' || part.length > 0)
  const { inputTokens, outputTokens } = usage
  const counted = inputTokens !== null || outputTokens !== null
  return newMessage(id, text, {
    ...(attribution === undefined ? {} : { attribution }),
    ...(calls.length > 0 ? { tool_calls: [...calls] } : {}),
    ...(attachments.length > 0 ? { attachments: [...attachments] } : {}),
    ...(reasoning.length > 0 ? { reasoning } : {}),
    ...(hasUsualOrder(order) ? {} : { answer_parts: order }),
    ...(sources.length > 0 ? { answer_sources: sources } : {}),
    ...(counted ? { footer_items: [footerOf(usage)] } : {}),
    has_debug_data: true,
  })
}

/** Whether an answer has the usual order: reasoning, then one text without metadata, then calls. */
function hasUsualOrder(parts: readonly AnswerPart[]): boolean {
  const kinds = parts.map(({ type }) => type).join(' ')
  const hasMetadata = parts.some((part) => part.type === 'text' && part.provider_metadata)
  return !hasMetadata && /^(reasoning ?)*(text ?)?(call ?)*$/.test(kinds)
}

/** Formats usage as `1200 tokens in (1000 cached), 45 out, $0.0021`. */
function footerOf({ inputTokens, outputTokens, cachedInputTokens, cost }: TokenUsage): string {
  const cached = cachedInputTokens ? ` (${cachedInputTokens} cached)` : ''
  const price = cost === undefined ? '' : `, $${cost < 0.1 ? cost.toPrecision(2) : cost.toFixed(2)}`
  return `${inputTokens ?? '?'} tokens in${cached}, ${outputTokens ?? '?'} out${price}`
}

/**
 * Returns the message of an interrupted answer, with the text and the calls that were received. Empty if nothing was
 * received, or the last answer is complete.
 */
export function unfinishedMessage(state: ConversationState, run: RunState): ConversationEvent[] {
  const step = run.steps.at(-1)
  if (!step || step.finishedAt !== undefined) return []
  // A log that has lost its last records may have the message, and not the end of its step.
  if (state.messages.some(({ id }) => id === step.messageId)) return []
  const text = state.streaming[step.messageId] ?? ''
  const calls = loggedCalls(state, step)
  if (text === '' && calls.length === 0) return []
  const { attribution } = run
  const reasoningOfCalls = calls.map(({ id }) => state.calls[id]?.reasoning ?? [])
  // The log does not say where the text was, so it is put before the first call.
  const order = reasoningOfCalls.flatMap(({ length }, i): AnswerPart[] => [
    ...Array<AnswerPart>(length).fill({ type: 'reasoning' }),
    ...(i === 0 && text !== '' ? [{ type: 'text' as const, length: text.length }] : []),
    { type: 'call' },
  ])
  const reasoning = reasoningOfCalls.flat()
  const payload = newMessage(step.messageId, text, {
    ...(attribution === undefined ? {} : { attribution }),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(reasoning.length > 0 ? { reasoning } : {}),
    ...(hasUsualOrder(order) ? {} : { answer_parts: order }),
    incomplete: true,
    footer_items: ['interrupted'],
  })
  return [{ type: 'NEW_MESSAGE', payload }]
}

/** Returns the complete calls of a step, as the model wrote them. */
export function loggedCalls({ calls }: ConversationState, { callIds }: StepState): ToolCall[] {
  return callIds.flatMap((id) => calls[id]?.call ?? [])
}

/** Returns the step with this id in the open run, and its name for AG-UI, which is its number. */
export function openStep(
  state: ConversationState,
  messageId: string,
): { step: StepState | null; stepName: string } {
  const steps = openRun(state)?.steps ?? []
  const index = steps.findLastIndex((step) => step.messageId === messageId)
  return { step: steps[index] ?? null, stepName: steps[index]?.name ?? `step ${steps.length + 1}` }
}

function newMessage(id: string, content: string, metadata: MessageMetadata): Message {
  return {
    id,
    sender: { participant_id: 'assistant', participant_role: 'assistant' },
    message_type: 'chat',
    content_type: 'text/markdown',
    content,
    timestamp: new Date().toISOString(),
    metadata,
  }
}
