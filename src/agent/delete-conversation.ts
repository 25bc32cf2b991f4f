import { itemCallId } from '../core/refs/item-call.ts'
import { type ConversationLog, readAll } from '../log/conversation-log.ts'
import { subConversations, unlessDamaged } from './read-conversation.ts'

/** Options of {@link deleteConversation}. */
export interface DeleteOptions {
  log: ConversationLog
  /** Cancels the open run of the conversation. */
  cancel(): Promise<unknown>
  /** Called before a conversation is deleted: this one, or that of a sub-agent. */
  onDelete?(conversation: string): Promise<void>
}

/**
 * Deletes a conversation and those of its sub-agents. If it is interrupted, the next deletion continues: the
 * conversation itself comes last. False for an unknown conversation.
 */
export async function deleteConversation(
  id: string,
  { log, cancel, onDelete }: DeleteOptions,
): Promise<boolean> {
  // Nothing runs in a damaged conversation.
  await unlessDamaged(cancel())
  for (const sub of await below(log, id)) {
    await onDelete?.(sub)
    await log.delete(sub)
  }
  await onDelete?.(id)
  return log.delete(id)
}

/** Returns the ids of the conversations of sub-agents, at any depth: the deepest ones first. */
async function below(log: ConversationLog, id: string): Promise<string[]> {
  const ids: string[] = []
  const calls = (await unlessDamaged(startedCalls(log, id))) ?? []
  for (const sub of await subConversations(log, id, calls)) {
    ids.push(...(await below(log, sub.id)), sub.id)
  }
  return ids
}

/** Returns the calls that have started, and the items of mapped ones. Includes those whose message was deleted. */
async function startedCalls(log: ConversationLog, conversation: string): Promise<{ id: string }[]> {
  const ids = new Set<string>()
  for await (const { event } of readAll(log, conversation)) {
    if (event.type !== 'TOOL_STARTED') continue
    const { toolCallId, item } = event
    ids.add(item === undefined ? toolCallId : itemCallId(toolCallId, item))
  }
  return [...ids].map((id) => ({ id }))
}
