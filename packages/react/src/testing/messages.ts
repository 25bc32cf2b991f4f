import {
  type ConversationEvent,
  type ConversationState,
  emptyConversation,
  fold,
  type JsonObject,
  type JsonValue,
  type Message,
} from 'byref/client'

let count = 0

/** Returns the start of a run by `owner` with these messages. */
export function runStarted(runId = 'r', ...messageIds: string[]): ConversationEvent {
  return { type: 'RUN_STARTED', threadId: 'c', runId, messageIds, owner: 'me' }
}

/** Returns the start of the step that writes the message with this id. */
export function stepStarted(messageId: string, runId = 'r'): ConversationEvent {
  return { type: 'STEP_STARTED', stepName: 'step 1', runId, messageId }
}

/** Returns a chat message of an assistant, with the changes of a test. */
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

/** Returns a run in which the call `c1` of the tool `pay` waits for a person, who sees these arguments. */
export function asked(shown: JsonObject, items?: JsonValue[]): (Message | ConversationEvent)[] {
  const call = { id: 'c1', name: 'pay', arguments: { sum: '†state.sum' } }
  const ids = { toolCallId: 'c1', runId: 'r' }
  const usage = { inputTokens: null, outputTokens: null }
  return [
    runStarted(),
    stepStarted('q'),
    { type: 'TOOL_CALL_END', ...ids, parentMessageId: 'q', call },
    message({ id: 'q', metadata: { tool_calls: [call] } }),
    {
      type: 'STEP_FINISHED',
      stepName: 'step 1',
      runId: 'r',
      messageId: 'q',
      usage,
      finishReason: 'tool-calls',
    },
    { type: 'APPROVAL_REQUESTED', ...ids, toolName: call.name, arguments: shown, items },
  ]
}

/** Returns the state after these messages and events. */
export function stateOf(...parts: (Message | ConversationEvent)[]): ConversationState {
  const events = parts.map(
    (part): ConversationEvent => ('type' in part ? part : { type: 'NEW_MESSAGE', payload: part }),
  )
  const at = (index: number) => new Date(Date.UTC(2026, 0, 1, 12, 0, index)).toISOString()
  return events.reduce(
    (state, event, index) =>
      fold(state, { v: 1, position: index + 1, timestamp: at(index), event }),
    emptyConversation,
  )
}
