import type { Message } from './message.ts'

/**
 * What stays in the place of a message that was deleted: whose it was, and when. Its metadata are `{ deleted: true }`; with
 * `result: true` where it was a call's result, which keeps its number: `†result#12` goes on naming the twelfth.
 */
export function tombstoneOf(message: Message, { isResult }: { isResult: boolean }): Message {
  const { id, sender, message_type, timestamp } = message
  const metadata = { deleted: true, ...(isResult ? { result: true } : {}) }
  return { id, sender, message_type, content_type: 'text/plain', content: '', timestamp, metadata }
}

/** Whether a message was deleted. One that has content was not, whatever its metadata say. */
export function isDeleted({ content, metadata }: Pick<Message, 'content' | 'metadata'>): boolean {
  return content === '' && metadata?.deleted === true
}

/** Whether it was a call's result. */
export function isDeletedResult(message: Pick<Message, 'content' | 'metadata'>): boolean {
  return isDeleted(message) && message.metadata.result === true
}
