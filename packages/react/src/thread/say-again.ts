import type { Message } from 'byref/client'
import { readMetadata } from 'byref/client'

/** Returns whether a person sent this message, so that it can be sent again. */
export function isSaidByPerson(message: Message): boolean {
  return (
    message.sender?.participant_role === 'user' &&
    message.content_type !== 'data' &&
    readMetadata(message).result === null
  )
}

/** Returns the person's message that led to this message: itself, or the last one before it. Null if there is none. */
export function saidBefore(messages: readonly Message[], message: Message): Message | null {
  if (isSaidByPerson(message)) return message
  const at = messages.findIndex(({ id }) => id === message.id)
  return messages.slice(0, Math.max(0, at)).findLast(isSaidByPerson) ?? null
}
