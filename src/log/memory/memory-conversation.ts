import type { LogRecord } from '../../content/events.ts'
import { NEW_CONVERSATION, type StoredSummary } from '../summary.ts'

/** A conversation in memory. */
export interface MemoryConversation extends StoredSummary {
  /** Grows with each conversation that is made. */
  key: number
  records: LogRecord[]
  /** JSON by message id. */
  debug: Map<string, string>
  /** The ids of the messages that were deleted. */
  deleted: Set<string>
  /** Lines of an import that an export would write in another way: by position, by message id, the header by 0. */
  kept: Map<number | string, string>
}

let made = 0

/** A conversation without events. */
export function newConversation(
  id: string,
  namespace: string | null,
  now: number,
): MemoryConversation {
  return {
    key: ++made,
    id,
    namespace,
    name: null,
    created: now,
    updated: now,
    position: 0,
    state: NEW_CONVERSATION,
    lease: null,
    damage: null,
    records: [],
    debug: new Map(),
    deleted: new Set(),
    kept: new Map(),
  }
}
