import type { Damage } from '../core/errors.ts'
import { emptyConversation, openRun } from '../core/events/conversation-state.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import { foldAll } from '../core/events/fold.ts'
import { newId } from '../core/new-id.ts'
import {
  type ConversationLog,
  type LogUpkeep,
  readAll,
  type StoredRecord,
} from './conversation-log.ts'

const PAGE = 500

/** Returns the stored records that a repair removes. */
export async function* removedRecords(
  upkeep: LogUpkeep,
  conversation: string,
  { position }: Damage,
): AsyncGenerator<StoredRecord> {
  for (let after = position - 1; ; ) {
    const page = await upkeep.stored(conversation, { after, limit: PAGE })
    yield* page
    const last = page.at(-1)
    if (!last) return
    after = last.position
  }
}

/**
 * Removes everything after the last sound record of a conversation. An open run then ends with an error, and so do queued
 * messages, because nobody knows what had been done. Returns how many records were removed.
 */
export async function repairConversation(
  log: ConversationLog,
  upkeep: LogUpkeep,
  { conversation, damage }: { conversation: string; damage: Damage },
): Promise<number> {
  const after = damage.position - 1
  const removed = await upkeep.cut(conversation, after)
  const records = []
  for await (const record of readAll(log, conversation)) records.push(record)
  const state = foldAll(emptyConversation, records)
  const message = `Records from position ${damage.position} on were damaged (${damage.reason}) and were removed: ${removed} in all`
  const end = (runId: string): ConversationEvent => {
    const code = 'conversation_damaged'
    return { type: 'RUN_ERROR', threadId: conversation, runId, code, message }
  }
  const open = openRun(state)
  const events: ConversationEvent[] = open ? [end(open.runId)] : []
  if (state.inbox.length > 0) {
    const runId = newId()
    const messageIds = state.inbox.map(({ message }) => message.id)
    const owner = 'byref log repair'
    events.push(
      { type: 'RUN_STARTED', threadId: conversation, runId, messageIds, owner },
      end(runId),
    )
  }
  if (events.length > 0) await log.append(conversation, events, { after })
  return removed
}
