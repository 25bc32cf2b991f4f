import { messageIn, titleOf, withoutMessages } from '../summary.ts'
import type { MemoryConversation } from './memory-conversation.ts'

/** Takes away what a list would say of messages, and their debug data. Their records stay. */
export function deleteMessages(conversation: MemoryConversation, ids: readonly string[]): void {
  if (ids.length === 0) return
  const { records, deleted, debug, kept } = conversation
  const wanted = new Set(ids.filter((id) => !deleted.has(id)))
  let gone = 0
  for (const { event } of records) {
    const id = messageIn(event)
    if (id === null || !wanted.has(id)) continue
    gone++
    deleted.add(id)
    debug.delete(id)
    kept.delete(id)
  }
  conversation.state = withoutMessages(conversation.state, { gone, title: titleIn(conversation) })
}

function titleIn({ records, deleted }: MemoryConversation): string | null {
  for (const { event } of records) {
    const title = deleted.has(messageIn(event) ?? '') ? null : titleOf(event)
    if (title !== null) return title
  }
  return null
}
