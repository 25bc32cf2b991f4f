import type { Message } from 'byref/client'
import { formatTime } from '../../ui/format.ts'

/** Messages as options of a select. */
export function MessageOptions({ messages }: { messages: readonly Message[] }) {
  return messages.map(({ id, sender, content, timestamp }) => (
    <option key={id} value={id}>
      {formatTime(timestamp)} {sender.name ?? sender.participant_role}:{' '}
      {(typeof content === 'string' ? content : JSON.stringify(content))?.slice(0, 40)}
    </option>
  ))
}
