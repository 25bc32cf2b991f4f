import { chatText, foldCase } from '../chat-text.ts'
import { checkPage, formatCursor, type ListPlace, parseCursor } from '../check-arguments.ts'
import type { ConversationSummary, ListOptions } from '../conversation-log.ts'
import { isDue, messageIn, summaryOf } from '../summary.ts'
import type { MemoryConversation } from './memory-conversation.ts'

/** One page of a list of conversations, last changed first. */
export function listPage(
  all: readonly MemoryConversation[],
  options: ListOptions,
): { conversations: ConversationSummary[]; next: string | null } {
  const { limit = 50, cursor, due, search } = options
  const size = checkPage(limit)
  const after = cursor ? parseCursor(cursor) : null
  const words = search ? foldCase(search) : null
  const found: MemoryConversation[] = []
  const now = Date.now()
  for (const conversation of all.toSorted(lastChangedFirst)) {
    if (after && lastChangedFirst(after, conversation) >= 0) continue
    if (due && !isDue(conversation.state)) continue
    if (due === 'abandoned' && !isOver(conversation, now)) continue
    if (words !== null && !contains(conversation, words)) continue
    if (found.push(conversation) > size) break
  }
  const page = found.slice(0, size)
  const last = page.at(-1)
  return {
    conversations: page.map((conversation) => summaryOf(conversation, now)),
    next: last && found.length > size ? formatCursor(last) : null,
  }
}

function lastChangedFirst(a: ListPlace, b: ListPlace): number {
  return b.updated - a.updated || b.key - a.key
}

function isOver({ lease }: MemoryConversation, now: number): boolean {
  return lease !== null && lease.until <= now
}

function contains({ name, state, records, deleted }: MemoryConversation, words: string): boolean {
  if (foldCase(name ?? state.title ?? '').includes(words)) return true
  return records.some(({ event }) => {
    return foldCase(chatText(event) ?? '').includes(words) && !deleted.has(messageIn(event) ?? '')
  })
}
