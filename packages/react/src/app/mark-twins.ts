import type { ConversationSummary } from 'byref/client'
import { formatTime } from '../ui/format.ts'

/** The part of a summary that tells conversations with the same title apart. */
type Twin = Pick<ConversationSummary, 'id' | 'title' | 'createdAt'>

/**
 * Returns when each conversation started whose title others have too, such as `14:05`, by its id. Those that started in
 * the same minute are numbered: `14:05 (2)`.
 */
export function markTwins(list: readonly Twin[]): ReadonlyMap<string, string> {
  const marks = new Map<string, string>()
  for (const twins of Map.groupBy(list, ({ title }) => title?.trim() ?? '').values()) {
    if (twins.length === 1) continue
    const byTime = Map.groupBy(twins.toSorted(byStart), ({ createdAt }) => formatTime(createdAt))
    for (const [time, same] of byTime) {
      for (const [index, { id }] of same.entries()) {
        marks.set(id, index === 0 ? time : `${time} (${index + 1})`)
      }
    }
  }
  return marks
}

function byStart(a: Twin, b: Twin): number {
  return a.createdAt.localeCompare(b.createdAt) || a.id.localeCompare(b.id)
}
