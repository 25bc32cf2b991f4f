import type { Message } from './message.ts'

/**
 * Returns what replaces a deleted message: its sender and time, without content. The metadata is `{ deleted:
 * true }`. A deleted result also has `result: true` and keeps its number, so `†result#12` still refers to the
 * twelfth result.
 */
export function tombstoneOf(message: Message, { isResult }: { isResult: boolean }): Message {
  const { id, sender, message_type, timestamp } = message
  const metadata = { deleted: true, ...(isResult ? { result: true } : {}) }
  return { id, sender, message_type, content_type: 'text/plain', content: '', timestamp, metadata }
}

/** Whether a message was deleted. A message with content was not deleted, whatever its metadata says. */
export function isDeleted({ content, metadata }: Pick<Message, 'content' | 'metadata'>): boolean {
  return content === '' && metadata?.deleted === true
}

/** Whether the message is a deleted call result. */
export function isDeletedResult(message: Pick<Message, 'content' | 'metadata'>): boolean {
  return isDeleted(message) && message.metadata.result === true
}
