import { ByrefError } from '../core/errors.ts'
import { openRun } from '../core/events/conversation-state.ts'
import { isDeleted } from '../core/messages/tombstone.ts'
import type { Session } from '../engine/session.ts'

/**
 * Takes a message's content away, for good: a tombstone keeps its place.
 *
 * @throws ByrefError `conversation_busy` during a run, and while a message waits for one; `message_not_found`
 */
export async function deleteMessage(session: Session, messageId: string): Promise<void> {
  // It may be another process's, of a moment ago.
  if (!session.state.messages.some(({ id }) => id === messageId)) await session.refresh()
  await session.appendIdle(({ messages, inbox, runs }) => {
    if (openRun({ runs }) || inbox.length > 0) {
      throw new ByrefError(
        'conversation_busy',
        `A run is going on in the conversation "${session.id}": wait for its end, or cancel it`,
      )
    }
    if (!messages.some((one) => one.id === messageId && !isDeleted(one))) {
      throw new ByrefError('message_not_found', `There is no message "${messageId}"`)
    }
    return { events: [{ type: 'MESSAGE_DELETED', messageId }] }
  })
}
