import { type Message, readMetadata } from 'byref/client'
import { useState } from 'react'
import { useConversationId } from '../../app/conversation-context.tsx'
import { useServer } from '../../app/server.ts'
import { useQuery } from '../../app/server-queries.ts'
import { JsonExplorer } from '../../json/json-explorer.tsx'
import { Button } from '../../ui/button.tsx'
import { LoadError } from '../../ui/load-error.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Spinner } from '../../ui/spinner.tsx'
import { Section } from '../section.tsx'
import { DebugDifference } from './debug-difference.tsx'
import { MessageOptions } from './message-options.tsx'

/** Renders a message's debug data, loaded on demand, and their differences from those of another message. */
export function MessageDebug({
  message,
  messages,
}: {
  message: Message
  messages: readonly Message[]
}) {
  const { debugQuery } = useServer()
  const conversation = useConversationId() as string
  const [open, setOpen] = useState(false)
  const [against, setAgainst] = useState('')
  const { data, error, isLoading, refetch } = useQuery({
    ...debugQuery(conversation, message.id),
    enabled: open,
  })
  const others = messages.filter((one) => one !== message && readMetadata(one).hasDebug)
  if (!readMetadata(message).hasDebug) return null
  return (
    <Section title="Debug data">
      {!open && (
        <Button look="outline" onClick={() => setOpen(true)}>
          Show debug data
        </Button>
      )}
      {isLoading && <Spinner label="Loading debug data" />}
      {error && <LoadError what="The debug data" error={error} onRetry={() => void refetch()} />}
      {data === null && <Notice tone="warn">This message no longer has debug data.</Notice>}
      {data !== undefined && data !== null && (
        <>
          <div className="overflow-hidden rounded-lg border border-line">
            <JsonExplorer value={data} label="debug data" />
          </div>
          {others.length > 0 && (
            <label className="flex items-center gap-2 text-xs text-ink-3">
              Compare with
              <select
                value={against}
                onChange={(event) => setAgainst(event.target.value)}
                className="h-7 min-w-0 flex-1 rounded-md border border-line-strong bg-surface px-2 text-sm text-ink"
              >
                <option value="">–</option>
                <MessageOptions messages={others.slice(-200)} />
              </select>
            </label>
          )}
          {against !== '' && <DebugDifference data={data} against={against} />}
        </>
      )}
    </Section>
  )
}
