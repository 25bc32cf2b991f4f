import type { Message } from 'byref/client'
import { formatTime } from '../../ui/format.ts'

/** Renders messages as options of a select. */
export function MessageOptions({ messages }: { messages: readonly Message[] }) {
  return messages.map(({ id, sender, content, timestamp }) => (
    <option key={id} value={id}>
      {formatTime(timestamp)} {sender.name ?? sender.participant_role}: {shortOf(content)}
    </option>
  ))
}

/** Returns the beginning of a content. An object is described by its keys, because it may be large. */
function shortOf(content: Message['content']): string {
  if (typeof content !== 'object' || content === null) return String(content).slice(0, 40)
  if (Array.isArray(content)) return '[…]'
  return `{ ${Object.keys(content).slice(0, 4).join(', ')} }`.slice(0, 40)
}
