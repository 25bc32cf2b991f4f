import type { CallState, ConversationState } from 'byref/client'
import { memo, useDeferredValue } from 'react'
import { useConversation } from '../app/conversation-context.tsx'
import { CallCard } from './call-card.tsx'
import { Text } from './message-content.tsx'
import { Avatar, senderName } from './message-header.tsx'
import { isAside } from './timeline.ts'

/** What is being written and called right now and is no message yet, or that the agent is thinking. */
export function InProgress() {
  const messages = useConversation((state) => state.messages)
  const streaming = useConversation((state) => state.streaming)
  const calls = useConversation((state) => state.calls)
  const running = useConversation((state) => state.runs.at(-1)?.status === 'running')
  if (!running) return null
  const parts = unwritten({ messages, streaming, calls })
  const called = Object.values(calls).some(({ status }) => status === 'running')
  const speaker = messages.findLast((message) => !isAside(message))
  const header = speaker?.sender?.participant_role !== 'assistant'
  const agent = messages.findLast(({ sender }) => sender?.participant_role === 'assistant')
  if (parts.length === 0 && called) return null
  return (
    <div className={header ? 'mt-5' : 'mt-2'}>
      {header && (
        <p className="mb-1 flex items-center gap-2">
          <Avatar of="assistant" />
          <span className="font-semibold">{agent ? senderName(agent) : 'Agent'}</span>
        </p>
      )}
      {parts.map(({ id, text, calls: open }) => (
        <div key={id} className="mt-2 space-y-2 first:mt-0 sm:pl-8">
          {text && <StreamingText text={text} />}
          {open.map((call) => (
            <CallCard key={call.id} id={call.id} call={call.call ?? null} />
          ))}
        </div>
      ))}
      {parts.length === 0 && (
        <p className="animate-pulse text-base text-ink-3 sm:pl-8">Thinking…</p>
      )}
    </div>
  )
}

/** Rendered as often as the machine manages: new text never blocks typing or scrolling. */
const StreamingText = memo(function StreamingText({ text }: { text: string }) {
  return <Text text={useDeferredValue(text)} />
})

interface Unwritten {
  id: string
  text: string
  calls: CallState[]
}

/** Messages that are known only from what streams: their text so far and their calls. */
function unwritten({
  messages,
  streaming,
  calls,
}: Pick<ConversationState, 'messages' | 'streaming' | 'calls'>): Unwritten[] {
  const recent = new Set(messages.slice(-200).map(({ id }) => id))
  const parts = new Map<string, Unwritten>()
  for (const [id, text] of Object.entries(streaming)) parts.set(id, { id, text, calls: [] })
  for (const call of Object.values(calls)) {
    const id = call.parentMessageId
    if (recent.has(id) || (call.status !== 'running' && call.status !== 'streaming')) continue
    const part = parts.get(id) ?? { id, text: '', calls: [] }
    part.calls.push(call)
    parts.set(id, part)
  }
  return [...parts.values()].filter(({ text, calls: open }) => text !== '' || open.length > 0)
}
