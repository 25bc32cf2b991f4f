import { inParallel } from '../assets/in-parallel.ts'
import { DamagedError } from '../core/errors.ts'
import { subConversationIds } from '../engine/cancel.ts'
import type { ConversationLog } from '../log/conversation-log.ts'
import { readState } from './read-conversation.ts'

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
  for (const sub of await subConversations(log, id)) {
    await onDelete?.(sub)
    await log.delete(sub)
  }
  await onDelete?.(id)
  return log.delete(id)
}

/** Maximum number of conversations that are looked up at the same time. */
const LOOKUPS_AT_ONCE = 8

/**
 * Returns the ids of the conversations in which sub-agents answered the calls of a conversation, at any depth: the
 * deepest ones first. Conversations in other logs are not found.
 */
async function subConversations(log: ConversationLog, id: string): Promise<string[]> {
  const state = await unlessDamaged(readState(log, id))
  const found: string[] = []
  const ids = Object.values(state?.calls ?? {}).flatMap((call) => subConversationIds(id, call))
  await inParallel(ids, { limit: LOOKUPS_AT_ONCE }, async (sub) => {
    if (!(await log.find(sub))) return
    const runs = (await unlessDamaged(readState(log, sub)))?.runs ?? []
    // Another conversation may have the same id.
    if (!runs.some(({ toolCallId }) => toolCallId && sub.endsWith(`/${toolCallId}`))) return
    found.push(...(await subConversations(log, sub)), sub)
  })
  return found
}

/** Returns the value, or null if the conversation is damaged. */
async function unlessDamaged<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof DamagedError) return null
    throw error
  }
}
