import { type AskedCall, isWithheld, type Message, waitingCalls } from 'byref/client'
import { Clock, X } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useConversation, useConversationId } from '../app/conversation-context.tsx'
import { useMay } from '../app/role.ts'
import { useServer } from '../app/server.ts'
import { Button } from '../ui/button.tsx'
import { MessageView } from './message-view.tsx'

/** Maximum length of a reason, in characters. */
const REASON_CHARS = 500

/**
 * Renders sent messages that wait for a run, a step or a person's decision. An owner can remove them. While calls wait for
 * approval, a message can be the reason to deny them.
 */
export function Queued() {
  const { client, tellError } = useServer()
  const conversation = useConversationId()
  const mayDelete = useMay('owner')
  const inbox = useConversation((state) => state.inbox)
  const runs = useConversation((state) => state.runs)
  const calls = useConversation((state) => state.calls)
  const waiting = useMemo(() => waitingCalls({ runs, calls }), [runs, calls])

  async function remove(id: string, messageId: string): Promise<void> {
    try {
      await client.deleteMessage(id, messageId)
    } catch (error) {
      tellError('The message was not removed. The run may have taken it.', error)
    }
  }

  return inbox.map(({ message, deliver }) => (
    <div
      key={message.id}
      className="mt-5 border-s-2 border-dashed border-line-strong ps-3 opacity-90"
    >
      <MessageView message={message} header />
      <div className="mt-1 flex flex-wrap items-center gap-1 text-2xs text-ink-2 sm:ps-8">
        <Clock className="size-3" aria-hidden />
        {waiting.length > 0
          ? 'Answered after your decision'
          : deliver === 'next_step'
            ? 'Added at the next step'
            : 'Sent when this run ends'}
        {waiting.length > 0 && conversation !== null && (
          <DenyAndSend conversation={conversation} message={message} calls={waiting} />
        )}
        {mayDelete && conversation !== null && (
          <Button
            className="h-6 px-1.5 text-2xs font-normal"
            onClick={() => void remove(conversation, message.id)}
          >
            <X aria-hidden /> Remove
          </Button>
        )}
      </div>
    </div>
  ))
}

/** Denies the waiting calls, so that the message is answered now. Its text is the reason. */
function DenyAndSend({
  conversation,
  message: { content },
  calls,
}: {
  conversation: string
  message: Message
  calls: readonly AskedCall[]
}) {
  const { client, tellError } = useServer()
  const mayDecide = useMay('member')
  const [sent, setSent] = useState(false)
  if (!mayDecide || calls.some(({ approval }) => isWithheld(approval.arguments))) return null

  async function deny(): Promise<void> {
    setSent(true)
    const text = typeof content === 'string' ? content.trim().slice(0, REASON_CHARS) : ''
    const answer = { approved: false, reason: text === '' ? undefined : text }
    try {
      for (const { id } of calls) await client.approve(conversation, id, answer)
    } catch (error) {
      tellError('The call was not denied.', error)
      setSent(false)
    }
  }

  return (
    <Button
      look="outline"
      disabled={sent}
      title={
        calls.length === 1
          ? 'Denies the waiting call, with this message as the reason'
          : `Denies the ${calls.length} waiting calls, with this message as the reason`
      }
      className="h-6 px-1.5 text-2xs"
      onClick={() => void deny()}
    >
      Deny and send
    </Button>
  )
}
