import type { ConversationEvent, LogRecord } from '../../core/events/events.ts'
import type { Message } from '../../core/messages/message.ts'

/** A chat message. */
export function message(id: string, content: unknown): Message {
  return {
    id,
    sender: { participant_id: 'u', participant_role: 'user' },
    message_type: 'chat',
    content_type: 'text/plain',
    content,
    timestamp: '2026-01-01T00:00:00.000Z',
    metadata: {},
  }
}

/** The event of a message, with additional fields. */
export function chat(text: string, more: Partial<Message> = {}): ConversationEvent {
  return { type: 'NEW_MESSAGE', payload: { ...message(text, text), ...more } }
}

/** A message that waits for a run. */
export function queued(id: string): ConversationEvent {
  return { type: 'NEW_MESSAGE', payload: message(id, id), deliver: 'next_run' }
}

export function runStarted(runId = 'r', messageIds: string[] = []): ConversationEvent {
  return { type: 'RUN_STARTED', threadId: 'c', runId, messageIds, owner: 'o' }
}

export function runFinished(runId = 'r'): ConversationEvent {
  const usage = { inputTokens: null, outputTokens: null }
  return { type: 'RUN_FINISHED', threadId: 'c', runId, result: { reason: 'done', usage } }
}

export function runError(runId = 'r'): ConversationEvent {
  return { type: 'RUN_ERROR', threadId: 'c', runId, code: 'run_failed', message: 'it broke' }
}

export function asked(toolCallId: string): ConversationEvent {
  return { type: 'APPROVAL_REQUESTED', toolCallId, runId: 'r', toolName: 't', arguments: {} }
}

export function answered(toolCallId: string): ConversationEvent {
  return { type: 'APPROVAL_ANSWERED', toolCallId, runId: 'r', approved: true }
}

/** Returns the text of a record's message, or else its type. */
export function contentOf({ event }: LogRecord): unknown {
  return event.type === 'NEW_MESSAGE' ? event.payload.content : event.type
}

/** Chat messages `a0`, `a1` … */
export function batch(name: string, count: number): ConversationEvent[] {
  return Array.from({ length: count }, (_, i) => chat(`${name}${i}`))
}
