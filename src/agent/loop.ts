import type { ConversationEvent, FinishReason, TokenUsage } from '../content/events.ts'
import type { Attachment, Message, MessageMetadata, ToolCall } from '../content/message.ts'
import { newId } from '../content/new-id.ts'
import { ByrefError, errorMessage } from '../errors.ts'
import { callModel } from '../model/call-model.ts'
import type { StoredReasoning } from '../model/model-messages.ts'
import { runCalls } from './calls.ts'
import { debugValue } from './debug-value.ts'
import { extractArguments } from './extract-arguments.ts'
import { type ModelResponse, readResponse, runReason } from './read-response.ts'
import type { RunSettings } from './run-settings.ts'
import { saveModelFiles } from './save-model-files.ts'
import { stepPrompt } from './step-prompt.ts'
import type { Thread } from './thread.ts'
import { toolForModel } from './tool-schema.ts'

/** How a run ended. */
export interface RunResult {
  /** What the agent said last. */
  text: string
  reason: FinishReason
  usage: TokenUsage
  conversation: string
}

/**
 * Asks the model, runs its calls and asks again, until an answer has no calls. Ends the run in the log on every path,
 * with `RUN_FINISHED` (also when it is cancelled) or `RUN_ERROR`.
 *
 * @throws ByrefError of the `RUN_ERROR`.
 */
export async function runLoop(thread: Thread, options: RunSettings): Promise<RunResult> {
  const { runId, signal, maxSteps } = options
  const usage: TokenUsage = { inputTokens: null, outputTokens: null }
  const finish = async (reason: RunResult['reason'], text: string): Promise<RunResult> => {
    await thread.append([
      { type: 'RUN_FINISHED', threadId: thread.id, runId, result: { reason, usage } },
    ])
    return { text, reason, usage, conversation: thread.id }
  }
  try {
    for (let step = 1; step <= maxSteps; step++) {
      signal.throwIfAborted()
      const response = await runStep(thread, `step ${step}`, options)
      add(usage, response.usage)
      if (response.calls.length === 0) {
        return await finish(runReason(response.finishReason), response.text)
      }
      await runCalls(thread, response.calls, options)
    }
    return await finish('step_limit', '')
  } catch (error) {
    const broken = options.failure()
    if (signal.aborted && !broken) return finish('cancelled', '')
    const failure = asByrefError(broken ? broken.error : error)
    const { code, message } = failure
    await thread.append([{ type: 'RUN_ERROR', threadId: thread.id, runId, code, message }])
    throw failure
  }
}

function asByrefError(error: unknown): ByrefError {
  if (error instanceof ByrefError) return error
  return new ByrefError('run_failed', errorMessage(error), { cause: error })
}

/** One model call: its prompt out of the thread, its answer into it. */
async function runStep(
  thread: Thread,
  stepName: string,
  options: RunSettings,
): Promise<ModelResponse> {
  const { runId, signal, model, retry } = options
  await thread.append([{ type: 'STEP_STARTED', stepName, runId }])
  const prompt = await stepPrompt(thread, options)
  const tools = options.tools.map(toolForModel)
  const messageId = newId()
  const tell = responseTeller(thread, messageId)
  const parts = callModel(
    model,
    { prompt, tools: tools.length > 0 ? tools : undefined, abortSignal: signal },
    retry,
  )
  const read = await readResponse(parts, (id) => freshCallId(thread, id), tell).catch(
    async (error: unknown) => {
      // What was said so far was seen; it stays, marked as incomplete.
      const said = thread.state.streaming[messageId]
      if (said) await thread.append([incomplete(messageId, said)])
      throw error
    },
  )
  const extracted = await extractArguments(read.calls, options.assets)
  const response = { ...read, calls: extracted.calls }
  const { events, attachments } = await saveModelFiles(read.files, options.assets, signal)
  const message = assistantMessage(messageId, response, attachments)
  const calls = message.metadata.tool_calls ?? []
  await thread.append(
    [
      ...extracted.events,
      ...events,
      { type: 'NEW_MESSAGE', payload: message },
      ...calls.map(
        (call): ConversationEvent => ({
          type: 'TOOL_CALL_END',
          toolCallId: call.id,
          runId,
          parentMessageId: messageId,
          call,
        }),
      ),
      { type: 'STEP_FINISHED', stepName, runId, usage: response.usage, messageId },
    ],
    { [messageId]: debugValue({ request: { prompt, tools }, response: withoutFiles(response) }) },
  )
  return response
}

/** Tells of an answer as it streams. */
function responseTeller(thread: Thread, messageId: string): Parameters<typeof readResponse>[2] {
  let speaking = false
  return {
    async text(delta) {
      if (!speaking) {
        speaking = true
        await thread.stream({ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' })
      }
      await thread.stream({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta })
    },
    async textEnd() {
      if (speaking) await thread.stream({ type: 'TEXT_MESSAGE_END', messageId })
    },
    callStart: (toolCallId, toolCallName) =>
      thread.stream({
        type: 'TOOL_CALL_START',
        toolCallId,
        toolCallName,
        parentMessageId: messageId,
      }),
    callDelta: (toolCallId, delta) => thread.stream({ type: 'TOOL_CALL_ARGS', toolCallId, delta }),
  }
}

/** The provider's id, or one of our own where the conversation had a call of that id before. */
function freshCallId(thread: Thread, id: string): string {
  return id === '' || Object.hasOwn(thread.state.calls, id) ? `call_${newId()}` : id
}

function assistantMessage(
  id: string,
  { text, reasoning, calls, usage }: ModelResponse,
  attachments: Attachment[],
): Message {
  const { inputTokens, outputTokens } = usage
  const counted = inputTokens !== null || outputTokens !== null
  const footer = `${inputTokens ?? '?'} tokens in, ${outputTokens ?? '?'} out`
  return spoken(id, text, {
    ...(calls.length > 0 ? { tool_calls: calls.map(storedCall) } : {}),
    ...(attachments.length > 0 ? { attachments } : {}),
    ...(reasoning.length > 0 ? { reasoning: reasoning.map(storedReasoning) } : {}),
    ...(counted ? { footer_items: [footer] } : {}),
    has_debug_data: true,
  })
}

function incomplete(id: string, text: string): ConversationEvent {
  const metadata = { incomplete: true, footer_items: ['stopped before its end'] }
  return { type: 'NEW_MESSAGE', payload: spoken(id, text, metadata) }
}

function spoken(id: string, content: string, metadata: MessageMetadata): Message {
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

function storedCall({
  id,
  name,
  arguments: args,
  providerMetadata,
}: ModelResponse['calls'][0]): ToolCall {
  return {
    id,
    name,
    arguments: args,
    ...(providerMetadata ? { provider_metadata: providerMetadata } : {}),
  }
}

function storedReasoning({
  text,
  providerMetadata,
}: ModelResponse['reasoning'][0]): StoredReasoning {
  return { text, ...(providerMetadata ? { provider_metadata: providerMetadata } : {}) }
}

/** The answer for debugging: no bytes that the model made, and no arguments but the logged ones. */
function withoutFiles({ files, calls, ...rest }: ModelResponse): Record<string, unknown> {
  const response = { ...rest, calls: calls.map(({ given, ...call }) => call) }
  return files.length > 0
    ? { ...response, files: files.map(({ mediaType }) => mediaType) }
    : response
}

function add(sum: TokenUsage, { inputTokens, outputTokens }: TokenUsage): void {
  if (inputTokens !== null) sum.inputTokens = (sum.inputTokens ?? 0) + inputTokens
  if (outputTokens !== null) sum.outputTokens = (sum.outputTokens ?? 0) + outputTokens
}
