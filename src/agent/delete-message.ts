import { ByrefError } from '../core/errors.ts'
import { type ConversationState, openRun } from '../core/events/conversation-state.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import { isDeleted } from '../core/messages/message.ts'
import type { Session } from '../engine/session.ts'

/**
 * Removes a message's content permanently. A tombstone keeps its position. A message that is still queued can be
 * deleted at any time: no run has read it.
 *
 * @throws ByrefError `conversation_busy` if a run is open or another message waits for one; `message_not_found`
 */
export async function deleteMessage(session: Session, messageId: string): Promise<void> {
  const isQueued = ({ inbox }: Pick<ConversationState, 'inbox'>): boolean =>
    inbox.some(({ message }) => message.id === messageId)
  // Another process may have added the message just now.
  if (!session.state.messages.some(({ id }) => id === messageId)) await session.refresh()
  if (isQueued(session.state)) {
    const events = [deleted(messageId)]
    const records = await session.append((state) => (isQueued(state) ? { events } : null))
    if (records.length > 0) return
  }
  await session.appendIdle((state) => {
    indexOfMessage(session.id, state, messageId)
    return { events: [deleted(messageId)] }
  })
}

/**
 * Returns the events that delete a message and all messages after it, the last one first.
 *
 * @throws ByrefError `conversation_busy`, `message_not_found`
 */
export function deletionsFrom(
  conversation: string,
  state: ConversationState,
  messageId: string,
): ConversationEvent[] {
  const from = indexOfMessage(conversation, state, messageId)
  const later = state.messages.slice(from).filter((one) => !isDeleted(one))
  return later.reverse().map(({ id }) => deleted(id))
}

/** @throws ByrefError `conversation_busy`, `message_not_found` */
function indexOfMessage(
  conversation: string,
  { messages, inbox, runs }: ConversationState,
  messageId: string,
): number {
  if (openRun({ runs }) || inbox.length > 0) {
    throw new ByrefError(
      'conversation_busy',
      `Conversation "${conversation}" has a run in progress. Wait until it ends, or cancel it.`,
    )
  }
  const index = messages.findIndex((one) => one.id === messageId && !isDeleted(one))
  if (index !== -1) return index
  throw new ByrefError('message_not_found', `There is no message "${messageId}"`)
}

function deleted(messageId: string): ConversationEvent {
  return { type: 'MESSAGE_DELETED', messageId }
}
