import type { Agent } from '../../agent/agent-contract.ts'
import { ByrefError } from '../../core/errors.ts'
import type { RunState } from '../../core/events/conversation-state.ts'
import type { ResponseOutput } from './response-output.ts'
import type { ResponsesRequest } from './responses-request.ts'

/** The id of a response names its conversation and the log position that it answers after. */
export interface ResponseId {
  conversation: string
  after: number
}

export function formatResponseId({ conversation, after }: ResponseId): string {
  return `resp_${conversation}_${after}`
}

/** @throws ByrefError `conversation_not_found` for an invalid id */
export function parseResponseId(id: string): ResponseId {
  const [, conversation, after] = /^resp_([0-9a-z]+)_(\d{1,15})$/.exec(id) ?? []
  if (conversation && after) return { conversation, after: Number(after) }
  throw noResponse(id)
}

function noResponse(id: string): ByrefError {
  return new ByrefError('conversation_not_found', `Response "${id}" does not exist`)
}

/**
 * Finds the conversation of a response in the log. `end` is its last position.
 *
 * @throws ByrefError `conversation_not_found`
 */
export async function findResponse(
  { log }: Pick<Agent, 'log'>,
  id: string,
): Promise<ResponseId & { end: number }> {
  const { conversation, after } = parseResponseId(id)
  const end = (await log.find(conversation))?.position ?? -1
  if (end < after) throw noResponse(id)
  return { conversation, after, end }
}

/** The input of {@link responseOf}. */
export interface ResponseParts {
  id: string
  request: Partial<ResponsesRequest>
  output: Pick<ResponseOutput, 'items' | 'usage'>
  /** Absent before the run starts. */
  run?: RunState
  /** Whether it waits for the client or a person. */
  isWaiting: boolean
}

/** Returns the response object, with all fields of the API. */
export function responseOf({ id, request, output, run, isWaiting }: ResponseParts) {
  const { status, reason } = statusOf(run, isWaiting)
  const createdAt = Math.floor(Date.parse(run?.startedAt ?? new Date().toISOString()) / 1000)
  const { inputTokens, outputTokens, cachedInputTokens } = output.usage
  const [input, written] = [inputTokens ?? 0, outputTokens ?? 0]
  return {
    id,
    object: 'response',
    created_at: createdAt,
    completed_at: run?.finishedAt ? Math.floor(Date.parse(run.finishedAt) / 1000) : null,
    status,
    incomplete_details: reason === null ? null : { reason },
    error: run?.error ? { code: 'server_error', message: run.error.message } : null,
    model: request.model ?? run?.model ?? 'byref',
    output: output.items,
    previous_response_id: request.previous_response_id ?? null,
    instructions: request.instructions ?? null,
    tools: request.tools ?? [],
    tool_choice: 'auto',
    parallel_tool_calls: true,
    text: { format: { type: 'text' }, ...request.text },
    temperature: request.temperature ?? 1,
    top_p: request.top_p ?? 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    top_logprobs: 0,
    max_output_tokens: request.max_output_tokens ?? null,
    max_tool_calls: null,
    reasoning: null,
    truncation: 'disabled',
    service_tier: 'default',
    store: true,
    background: request.background ?? false,
    metadata: request.metadata ?? {},
    safety_identifier: null,
    prompt_cache_key: null,
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: cachedInputTokens ?? 0 },
      output_tokens: written,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + written,
    },
  }
}

/** Returns the status in the API. A run that ended before its answer was complete is `incomplete`. */
function statusOf(
  run: RunState | undefined,
  isWaiting: boolean,
): { status: string; reason: string | null } {
  if (run?.error) return { status: 'failed', reason: null }
  if (isWaiting || run?.reason === 'done') return { status: 'completed', reason: null }
  if (run?.reason === 'cancelled') return { status: 'cancelled', reason: null }
  if (run?.reason === 'content_filter') return { status: 'incomplete', reason: run.reason }
  if (run?.reason) return { status: 'incomplete', reason: 'max_output_tokens' }
  return { status: 'in_progress', reason: null }
}
