import { Clock, X } from 'lucide-react'
import { useConversation, useConversationId } from '../app/conversation-context.tsx'
import { useMay } from '../app/role.ts'
import { useServer } from '../app/server.ts'
import { Button } from '../ui/button.tsx'
import { MessageView } from './message-view.tsx'

/** Renders sent messages that wait for a run or a step. An owner can remove them. */
export function Queued() {
  const { client, tellError } = useServer()
  const conversation = useConversationId()
  const mayDelete = useMay('owner')
  const inbox = useConversation((state) => state.inbox)

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
      <p className="mt-1 flex items-center gap-1 text-2xs text-ink-2 sm:ps-8">
        <Clock className="size-3" aria-hidden />
        {deliver === 'next_step' ? 'Added at the next step' : 'Sent when this run ends'}
        {mayDelete && conversation !== null && (
          <Button
            className="h-6 px-1.5 text-2xs font-normal"
            onClick={() => void remove(conversation, message.id)}
          >
            <X aria-hidden /> Remove
          </Button>
        )}
      </p>
    </div>
  ))
}
