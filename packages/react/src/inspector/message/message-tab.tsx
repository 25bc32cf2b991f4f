import { isDeleted, METADATA_KEYS, type Message } from 'byref/client'
import { MessageSquareCode } from 'lucide-react'
import { useMemo } from 'react'
import { useConversation, useConversationId } from '../../app/conversation-context.tsx'
import { useChangeView, useHash, useView } from '../../app/navigation.tsx'
import { useSeesDebug } from '../../app/role.ts'
import { JsonExplorer } from '../../json/json-explorer.tsx'
import { readHash } from '../../thread/read-hash.ts'
import { Empty } from '../../ui/empty.tsx'
import { isRecord } from '../../ui/is-record.ts'
import { JumpText } from '../jump-text.tsx'
import { Section } from '../section.tsx'
import { MessageDebug } from './message-debug.tsx'
import { MessageOptions } from './message-options.tsx'

const KNOWN: ReadonlySet<string> = new Set(METADATA_KEYS)

/** Renders one message exactly as it is stored: its JSON, the metadata that byref does not use, and its debug data. */
export function MessageTab() {
  const messages = useConversation((state) => state.messages)
  const conversation = useConversationId()
  const { message: named, path } = useView()
  const hash = useHash()
  const change = useChangeView()
  const seesDebug = useSeesDebug()
  const linked = hash.startsWith('m-') ? readHash(hash).slice(2) : undefined
  const there = useMemo(() => messages.filter((message) => !isDeleted(message)), [messages])
  const find = (id: string | undefined) => there.find((message) => message.id === id)
  const message = find(named) ?? find(linked) ?? there.at(-1)
  if (!message || conversation === null) {
    return (
      <Empty icon={MessageSquareCode} title="No message yet">
        Each message appears here exactly as it is stored, with its metadata and debug data.
      </Empty>
    )
  }
  const unknown = unknownKeys(message)
  return (
    <div className="space-y-4 p-3">
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1 text-xs">
        <select
          aria-label="Message"
          value={message.id}
          onChange={(event) =>
            change({ message: event.target.value, path: undefined }, { replace: true })
          }
          className="h-7 min-w-0 flex-1 basis-28 rounded-md border border-line-strong bg-surface px-2 text-sm"
        >
          <MessageOptions messages={around(there, message)} />
        </select>
        <JumpText to={`m-${message.id}`}>Go to message</JumpText>
      </div>
      {unknown.length > 0 && (
        <Section title="Metadata that byref does not use and keeps unchanged">
          <ul className="flex flex-wrap gap-1 font-mono text-xs">
            {unknown.map((key) => (
              <li key={key} className="rounded-md border border-line px-1.5">
                {key}
              </li>
            ))}
          </ul>
        </Section>
      )}
      <div className="overflow-hidden rounded-lg border border-line">
        <JsonExplorer key={message.id} value={message} label="message" at={path} />
      </div>
      {seesDebug && <MessageDebug key={message.id} message={message} messages={there} />}
    </div>
  )
}

/**
 * Returns the messages that can be chosen. A thousand options would be slow, so it returns those around the shown
 * message.
 */
function around(messages: readonly Message[], message: Message): readonly Message[] {
  const place = messages.indexOf(message)
  return messages.slice(Math.max(0, place - 100), place + 100)
}

/** Returns the keys of a message's metadata that have no effect. */
function unknownKeys({ metadata }: Message): string[] {
  return isRecord(metadata) ? Object.keys(metadata).filter((key) => !KNOWN.has(key)) : []
}
