import type { ConversationSummary } from 'byref/client'

/** Returns the summary of a conversation as the server lists it. */
export function summary(
  id: string,
  change: Partial<ConversationSummary> = {},
): ConversationSummary {
  const at = '2026-01-01T12:00:00.000Z'
  return {
    id,
    title: `Title ${id}`,
    createdAt: at,
    updatedAt: at,
    messages: 2,
    position: 9,
    status: 'idle',
    queued: 0,
    hasRunner: false,
    agent: null,
    damage: null,
    branch: null,
    ...change,
  }
}
