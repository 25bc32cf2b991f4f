import {
  type ConversationState,
  openRun,
  type RunState,
  type StepState,
} from '../../core/events/conversation-state.ts'
import type { ConversationEvent, TokenUsage } from '../../core/events/events.ts'
import type { Attachment, Message, MessageMetadata, ToolCall } from '../../core/messages/message.ts'
import type { ModelResponse } from './read-response.ts'

/** Returns the message of a complete answer. */
export function assistantMessage(
  id: string,
  { text, reasoning, usage }: ModelResponse,
  made: {
    calls: readonly ToolCall[]
    attachments: readonly Attachment[]
    attribution: string | undefined
  },
): Message {
  const { calls, attachments, attribution } = made
  const { inputTokens, outputTokens } = usage
  const counted = inputTokens !== null || outputTokens !== null
  return newMessage(id, text, {
    ...(attribution === undefined ? {} : { attribution }),
    ...(calls.length > 0 ? { tool_calls: [...calls] } : {}),
    ...(attachments.length > 0 ? { attachments: [...attachments] } : {}),
    ...(reasoning.length > 0 ? { reasoning } : {}),
    ...(counted ? { footer_items: [footerOf(usage)] } : {}),
    has_debug_data: true,
  })
}

/** `1200 tokens in (1000 cached), 45 out, $0.0021`. */
function footerOf({ inputTokens, outputTokens, cachedInputTokens, cost }: TokenUsage): string {
  const cached = cachedInputTokens ? ` (${cachedInputTokens} cached)` : ''
  const price = cost === undefined ? '' : `, $${cost < 0.1 ? cost.toPrecision(2) : cost.toFixed(2)}`
  return `${inputTokens ?? '?'} tokens in${cached}, ${outputTokens ?? '?'} out${price}`
}

/**
 * Returns the message of an interrupted answer, with the text and the calls that were received; empty if there are
 * none.
 */
export function unfinishedMessage(state: ConversationState, run: RunState): ConversationEvent[] {
  const step = run.steps.at(-1)
  if (!step || step.finishedAt !== undefined) return []
  const text = state.streaming[step.messageId] ?? ''
  const calls = loggedCalls(state, step)
  if (text === '' && calls.length === 0) return []
  const { attribution } = run
  const payload = newMessage(step.messageId, text, {
    ...(attribution === undefined ? {} : { attribution }),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    incomplete: true,
    footer_items: ['stopped before its end'],
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
