import { Database } from 'lucide-react'
import { useMemo } from 'react'
import { useConversation } from '../../app/conversation-context.tsx'
import { useView } from '../../app/navigation.tsx'
import { Empty } from '../../ui/empty.tsx'
import { DataCard } from './data-card.tsx'
import { dataEntries, writesOf } from './data-entries.ts'
import { DataTimeline } from './data-timeline.tsx'

/** Renders the board: every value by kind and instance, now or after any write, and its history. */
export function DataTab() {
  const messages = useConversation((state) => state.messages)
  const entries = useMemo(() => dataEntries(messages), [messages])
  const writes = useMemo(() => writesOf(entries, messages), [entries, messages])
  const { data: wanted, at: point } = useView()
  if (entries.length === 0) {
    return (
      <Empty icon={Database} title="No saved values yet">
        Data that tools write with <code className="font-mono">_outputPath</code>, and inputs and
        state of the agent, appear here, each with a † reference.
      </Empty>
    )
  }
  const found = writes.findIndex(({ messageId }) => messageId === point)
  const index = found < 0 ? writes.length - 1 : found
  const at = index < writes.length - 1 ? (writes[index]?.messageId ?? null) : null
  const seen = new Set(writes.slice(0, index + 1).map(({ messageId }) => messageId))
  const shown = entries.filter((entry) => entry.writes.some(({ messageId }) => seen.has(messageId)))
  return (
    <>
      {writes.length > 1 && <DataTimeline writes={writes} at={index} />}
      <ul className="space-y-3 p-3">
        {shown.map((entry) => (
          <li key={entry.identity}>
            <DataCard entry={entry} at={at} wanted={entry.identity === wanted} />
          </li>
        ))}
      </ul>
    </>
  )
}
