import type { Message } from './message.ts'

/** The call that a message is the result of; null for a message that is none. Whatever its metadata are, it does not throw. */
export function resultCallId({ metadata }: Pick<Message, 'metadata'>): string | null {
  const id: unknown = metadata?.tool_result?.tool_call_id
  return typeof id === 'string' ? id : null
}
