import { Clock } from 'lucide-react'
import { useConversation } from '../app/conversation-context.tsx'
import { MessageView } from './message-view.tsx'

/** Renders sent messages that wait for a run or a step. */
export function Queued() {
  const inbox = useConversation((state) => state.inbox)
  return inbox.map(({ message, deliver }) => (
    <div
      key={message.id}
      className="mt-5 border-l-2 border-dashed border-line-strong pl-3 opacity-90"
    >
      <MessageView message={message} header />
      <p className="mt-1 flex items-center gap-1 text-2xs text-ink-2 sm:pl-8">
        <Clock className="size-3" aria-hidden />
        {deliver === 'next_step' ? 'queued for the next step' : 'queued for the next run'}
      </p>
    </div>
  ))
}
