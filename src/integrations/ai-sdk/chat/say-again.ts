import type { UIMessage } from 'ai'
import type { Agent } from '../../../agent/agent-contract.ts'
import { emptyConversation } from '../../../core/events/conversation-state.ts'
import type { LogRecord } from '../../../core/events/events.ts'
import { foldAll } from '../../../core/events/fold.ts'
import { isDeleted, type Message } from '../../../core/messages/message.ts'
import type { MessageInput } from '../../../core/messages/to-message.ts'
import { newId } from '../../../core/new-id.ts'
import { readAll } from '../../../log/conversation-log.ts'
import type { UIChunkOptions } from './ui-chunks.ts'
import { isUserMessage, refsByUrl, toInput, UI_ID, uiIdOf } from './ui-messages.ts'

/**
 * Deletes a message and everything after it, the last first. What tools did elsewhere is not undone. Returns null if
 * the log has no such message.
 *
 * @param id The browser's id of the message.
 * @throws ByrefError `conversation_busy` during a run
 */
export async function deleteFrom(
  agent: Agent,
  conversation: string,
  id: string,
): Promise<Message | null> {
  const records: LogRecord[] = []
  for await (const record of readAll(agent.log, conversation)) records.push(record)
  const messages = foldAll(emptyConversation, records).messages.filter((one) => !isDeleted(one))
  const from = messages.findIndex((one) => isUserMessage(one) && uiIdOf(one) === id)
  if (from === -1) return null
  for (const one of messages.slice(from).toReversed()) {
    await agent.deleteMessage(conversation, one.id)
  }
  return messages[from] as Message
}

/** Returns the message as a new one, under the id that the browser already has for it. */
export function again(message: Message): MessageInput & { id: string } {
  const metadata = { ...message.metadata, [UI_ID]: uiIdOf(message) }
  return { ...message, id: newId(), timestamp: new Date().toISOString(), metadata }
}

/** Returns a new message in place of an edited one. It can refer to the same files. */
export function edited(
  { id, parts, ...rest }: UIMessage,
  before: Message,
  options: UIChunkOptions,
): MessageInput & { id: string } {
  const refs = refsByUrl(before, options)
  const known = parts.map((part) =>
    part.type === 'file' ? { ...part, url: refs.get(part.url) ?? part.url } : part,
  )
  return {
    ...toInput({ ...rest, id, parts: known }),
    id: newId(),
    metadata: { [UI_ID]: id },
  } as MessageInput & { id: string }
}
