import { ByrefError, type Damage, DamagedError } from '../core/errors.ts'
import { emptyConversation, openRun } from '../core/events/conversation-state.ts'
import { createFold, foldAll } from '../core/events/fold.ts'
import {
  type ConversationLog,
  type ConversationSummary,
  type LogUpkeep,
  readAll,
  type StoredRecord,
} from './conversation-log.ts'
import { openWorkEnd } from './end-open-work.ts'
import { NEW_CONVERSATION, type SummaryState, stateAfter } from './summary.ts'

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
 * Removes everything after the last sound record of a conversation. Then ends an open run and queued messages with an
 * error, because it is unknown what had been done. Returns the number of removed records.
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
  const work = {
    openRun: openRun(state)?.runId ?? null,
    queued: state.inbox.map((queued) => queued.message.id),
  }
  const reason = { code: 'conversation_damaged', message, owner: 'byref log repair' } as const
  const events = openWorkEnd(conversation, work, reason)
  if (events.length > 0) await log.append(conversation, events, { after })
  return removed
}

/**
 * Reads everything in a conversation, also during appends. Returns the first damage; null for a sound or an unknown
 * conversation.
 */
export async function verifyConversation(log: ConversationLog, id: string): Promise<Damage | null> {
  const fold = createFold()
  let state = NEW_CONVERSATION
  let hasDeletions = false
  try {
    for await (const record of readAll(log, id)) {
      fold.apply(record)
      state = stateAfter(state, [record.event], 0).state
      hasDeletions ||= record.event.type === 'MESSAGE_DELETED'
    }
    // The export also reads the debug data.
    for await (const _ of log.export(id));
  } catch (error) {
    if (error instanceof DamagedError) return error.damage
    if (error instanceof ByrefError && error.code === 'conversation_not_found') return null
    throw error
  }
  const summary = await log.find(id)
  const { position } = fold.state
  // Records were added in the meantime.
  if (!summary || summary.position > position) return null
  const isCounted = hasDeletions || summary.messages === state.messages
  if (summary.position === position && isCounted && matches(summary, state)) return null
  return { position: position + 1, reason: 'its summary does not match its records' }
}

function matches(summary: ConversationSummary, state: SummaryState): boolean {
  const { openRun, queued, agent } = summary
  return openRun === state.openRun && queued === state.queued.length && agent === state.agent
}
