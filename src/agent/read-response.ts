import type { FinishReason, TokenUsage } from '../content/events.ts'
import type { ToolCall } from '../content/message.ts'
import { ByrefError } from '../errors.ts'
import type { ModelStreamPart } from '../model/language-model.ts'

/** A call as the model made it. `problem` says what is wrong with arguments that are no JSON object. */
export interface ModelCall extends ToolCall {
  problem?: string
  /** The arguments as they came, where `arguments` holds references in place of bodies. */
  given?: Record<string, unknown>
  /** What the provider wants back with the call in later prompts (thought signatures and the like). */
  providerMetadata?: Record<string, unknown>
}

/** What a model thought before it spoke, as its provider wants it back in later prompts. */
export interface ModelReasoning {
  text: string
  providerMetadata?: Record<string, unknown>
}

/** Bytes that a model made. */
export interface ModelFile {
  mediaType: string
  /** Bytes, or base64 as the provider gave it. */
  data: Uint8Array | string
}

/** One whole answer of a model. */
export interface ModelResponse {
  text: string
  reasoning: ModelReasoning[]
  calls: ModelCall[]
  files: ModelFile[]
  usage: TokenUsage
  /** The provider's reason in the AI SDK's words. */
  finishReason: 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other'
}

/** What the reader tells while the answer streams. */
export interface ResponseListener {
  text(delta: string): Promise<void>
  textEnd(): Promise<void>
  callStart(id: string, name: string): Promise<void>
  callDelta(id: string, delta: string): Promise<void>
}

/**
 * Reads a model's stream to its end. `callId` maps the provider's id of a call to the one it has here, since some
 * servers give the same ids in every answer.
 *
 * @throws ByrefError `model_failed` for a stream that ends without a finish.
 */
export async function readResponse(
  parts: AsyncIterable<ModelStreamPart>,
  callId: (providerId: string) => string,
  tell: ResponseListener,
): Promise<ModelResponse> {
  const response: ModelResponse = {
    text: '',
    reasoning: [],
    calls: [],
    files: [],
    usage: { inputTokens: null, outputTokens: null },
    finishReason: 'other',
  }
  const ids = new Map<string, string>()
  const used = new Set<string>()
  const idOf = (providerId: string): string => {
    const known = ids.get(providerId) ?? callId(used.has(providerId) ? '' : providerId)
    ids.set(providerId, known)
    used.add(known)
    return known
  }
  const thoughts = new Map<string, ModelReasoning>()
  let finished = false
  for await (const part of parts) {
    switch (part.type) {
      case 'text-delta':
        response.text += part.delta
        if (part.delta) await tell.text(part.delta)
        break
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end': {
        const thought = thoughts.get(part.id) ?? { text: '' }
        if (!thoughts.has(part.id)) response.reasoning.push(thought)
        thoughts.set(part.id, thought)
        if (part.type === 'reasoning-delta') thought.text += part.delta
        if (part.providerMetadata) thought.providerMetadata = part.providerMetadata
        break
      }
      case 'tool-input-start':
        if (!part.providerExecuted) await tell.callStart(idOf(part.id), part.toolName)
        break
      case 'tool-input-delta':
        if (ids.has(part.id)) await tell.callDelta(idOf(part.id), part.delta)
        break
      case 'tool-call':
        if (!part.providerExecuted) {
          const { providerMetadata } = part
          const parsed = parseArguments(part.input)
          response.calls.push({
            id: idOf(part.toolCallId),
            name: part.toolName,
            ...parsed,
            ...(providerMetadata ? { providerMetadata } : {}),
          })
          // A further call of this id is another one.
          ids.delete(part.toolCallId)
        }
        break
      case 'file': {
        const { data } = part
        // Interface v3 gives the bytes themselves, v4 an object around them.
        const body =
          typeof data === 'object' && 'type' in data ? data : { type: 'data' as const, data }
        if (body.type === 'data')
          response.files.push({ mediaType: part.mediaType, data: body.data })
        break
      }
      case 'finish':
        finished = true
        response.finishReason = part.finishReason.unified
        response.usage = {
          inputTokens: part.usage.inputTokens.total ?? null,
          outputTokens: part.usage.outputTokens.total ?? null,
        }
        break
    }
  }
  await tell.textEnd()
  if (!finished) {
    throw new ByrefError('model_failed', 'The model’s answer broke off before its end; ask again')
  }
  const { text, calls, files, finishReason } = response
  const isEmpty = text === '' && calls.length === 0 && files.length === 0
  if (finishReason === 'error' || (isEmpty && finishReason === 'other')) {
    throw new ByrefError('model_failed', 'The model’s answer was empty or broken; ask again')
  }
  return response
}

/** The reason a run ends with when the answer has no calls. */
export function runReason(finishReason: ModelResponse['finishReason']): FinishReason {
  if (finishReason === 'length') return 'length'
  return finishReason === 'content-filter' ? 'content_filter' : 'done'
}

function parseArguments(input: string): Pick<ModelCall, 'arguments' | 'problem'> {
  if (input.trim() === '') return { arguments: {} }
  try {
    const value: unknown = JSON.parse(input)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return { arguments: value as Record<string, unknown> }
    }
  } catch {
    // Said below, with the text itself.
  }
  const shown = input.length > 200 ? `${input.slice(0, 200)}…` : input
  return { arguments: {}, problem: `The arguments are no JSON object: ${shown}` }
}
