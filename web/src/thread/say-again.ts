import type { Message } from 'byref/client'
import { readMetadata } from 'byref/client'

/** Whether a person said this, so that it can be said again. */
export function isSaidByPerson(message: Message): boolean {
  return (
    message.sender?.participant_role === 'user' &&
    message.content_type !== 'data' &&
    readMetadata(message).result === null
  )
}

/** What a person said that led to this message: itself, or the last before it; null where there is none. */
export function saidBefore(messages: readonly Message[], message: Message): Message | null {
  if (isSaidByPerson(message)) return message
  const at = messages.findIndex(({ id }) => id === message.id)
  return messages.slice(0, Math.max(0, at)).findLast(isSaidByPerson) ?? null
}
