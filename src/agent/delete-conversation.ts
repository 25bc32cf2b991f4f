import type { ConversationState } from '../core/events/conversation-state.ts'
import type { ConversationLog } from '../log/conversation-log.ts'
import { readState, subConversations, unlessDamaged } from './read-conversation.ts'

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
  const state = await unlessDamaged(readState(log, id))
  for (const sub of await below(log, id, state)) {
    await onDelete?.(sub)
    await log.delete(sub)
  }
  await onDelete?.(id)
  return log.delete(id)
}

/** Returns the ids of the conversations of sub-agents, at any depth: the deepest ones first. */
async function below(
  log: ConversationLog,
  id: string,
  state: ConversationState | null,
): Promise<string[]> {
  const ids: string[] = []
  for (const sub of await subConversations(log, id, Object.values(state?.calls ?? {}))) {
    ids.push(...(await below(log, sub.id, sub.state)), sub.id)
  }
  return ids
}
