import {
  type ConversationEvent,
  type ConversationState,
  emptyConversation,
  fold,
  type Message,
} from 'byref/client'

let count = 0

/** A chat message of an assistant, with what a test changes of it. */
export function message(change: Partial<Message> = {}): Message {
  count += 1
  return {
    id: `message-${count}`,
    sender: { participant_id: 'bot', participant_role: 'assistant', name: 'Bot' },
    message_type: 'chat',
    content_type: 'text/markdown',
    content: `Text ${count}`,
    timestamp: '2026-01-01T12:00:00.000Z',
    metadata: {},
    ...change,
  }
}

/** The state after these messages and events. */
export function stateOf(...parts: (Message | ConversationEvent)[]): ConversationState {
  const events = parts.map(
    (part): ConversationEvent => ('type' in part ? part : { type: 'NEW_MESSAGE', payload: part }),
  )
  const at = (index: number) => new Date(Date.UTC(2026, 0, 1, 12, 0, index)).toISOString()
  return events.reduce(
    (state, event, index) => fold(state, { position: index + 1, timestamp: at(index), event }),
    emptyConversation,
  )
}
