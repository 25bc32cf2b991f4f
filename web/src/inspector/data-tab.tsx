import { Database } from 'lucide-react'
import { useMemo } from 'react'
import { useConversation } from '../app/conversation-context.tsx'
import { useView } from '../app/view.tsx'
import { Empty } from '../ui/empty.tsx'
import { DataCard } from './data-card.tsx'
import { dataEntries } from './data-entries.ts'

/** The data board: every value by kind and instance, what it is now and how it came about. */
export function DataTab() {
  const messages = useConversation((state) => state.messages)
  const entries = useMemo(() => dataEntries(messages), [messages])
  const { data: wanted } = useView()
  if (entries.length === 0) {
    return (
      <Empty icon={Database} title="No data yet">
        What tools write with <code className="font-mono">_outputPath</code>, and inputs and state
        of the agent, are kept here, each with a † reference.
      </Empty>
    )
  }
  return (
    <ul className="space-y-3 p-3">
      {entries.map((entry) => (
        <li key={entry.label}>
          <DataCard entry={entry} wanted={entry.label === wanted} />
        </li>
      ))}
    </ul>
  )
}
