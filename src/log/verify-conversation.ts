import { ByrefError, type Damage, DamagedError } from '../core/errors.ts'
import { createFold } from '../core/events/fold.ts'
import { type ConversationLog, type ConversationSummary, readAll } from './conversation-log.ts'
import { type ConversationState, NEW_CONVERSATION, stateAfter } from './summary.ts'

/**
 * Reads everything in a conversation, also during appends. Returns the first damage; null for a sound or an unknown
 * conversation.
 */
export async function verifyConversation(log: ConversationLog, id: string): Promise<Damage | null> {
  const fold = createFold()
  let state = NEW_CONVERSATION
  try {
    for await (const record of readAll(log, id)) {
      fold.apply(record)
      state = stateAfter(state, [record.event], 0).state
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
  if (!summary || summary.position !== position || matches(summary, state)) return null
  return { position: position + 1, reason: 'its summary does not match its records' }
}

function matches(summary: ConversationSummary, state: ConversationState): boolean {
  const { openRun, queued, agent } = summary
  return openRun === state.openRun && queued === state.queued.length && agent === state.agent
}
