import { type ConversationState, readIds } from '../summary.ts'

/** A row of the conversations, as SQLite gives it. A namespace '' is none. */
export interface ConversationRow {
  key: number
  namespace: string
  id: string
  name: string | null
  created: number
  updated: number
  position: number
  title: string | null
  messages: number
  open_run: string | null
  queued: string | null
  approvals: string | null
  failed: number
  agent: string | null
  lease_owner: string | null
  lease_until: number | null
  header: string | null
  imported: number
  damage: string | null
}

/** The columns title, messages, open_run, queued, approvals, failed and agent, in this order. */
export function stateColumns(state: ConversationState): (string | number | null)[] {
  const { title, messages, openRun, queued, approvals, failed, agent } = state
  return [title, messages, openRun, listText(queued), listText(approvals), failed ? 1 : 0, agent]
}

/** What {@link stateColumns} stored. */
export function stateOf(row: ConversationRow): ConversationState {
  return {
    title: row.title,
    messages: row.messages,
    openRun: row.open_run,
    queued: readIds(row.queued),
    approvals: readIds(row.approvals),
    failed: row.failed === 1,
    agent: row.agent,
  }
}

function listText(ids: readonly string[]): string | null {
  return ids.length > 0 ? JSON.stringify(ids) : null
}
