import type { MessageInput } from '../core/messages/to-message.ts'

/** A text, which is a message from the user, a message in any form, or a list of these. */
export type MessagesInput = string | MessageInput | readonly (string | MessageInput)[]

/** Converts the input to a list of messages. */
export function messagesOf(messages: MessagesInput): MessageInput[] {
  const list = [messages].flat() as (string | MessageInput)[]
  return list.map((one) => (typeof one === 'string' ? { content: one } : one))
}
