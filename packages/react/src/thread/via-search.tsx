import { Search } from 'lucide-react'
import { useConversation } from '../app/conversation-context.tsx'
import { JumpText } from '../inspector/jump-text.tsx'
import { searchesBefore } from './tool-searches.ts'

/** Says that a call came through another tool, and which search had found its own tool. */
export function ViaSearch({
  via,
  name,
  messageId,
}: {
  via: string
  name: string
  messageId: string
}) {
  const messages = useConversation((state) => state.messages)
  const search = searchesBefore(messages, messageId).findLast(({ found }) => found.includes(name))
  return (
    <p className="flex items-start gap-1.5 border-t border-line px-2.5 py-1.5 text-ink-3">
      <Search className="mt-0.5 size-3.5 shrink-0" aria-hidden />
      <span className="min-w-0 [overflow-wrap:anywhere]">
        Called through <code className="font-mono">{via}</code>.{' '}
        {search ? (
          <JumpText to={`call-${search.callId}`}>
            Found by the search <q>{search.query}</q>
          </JumpText>
        ) : (
          'No search had found it.'
        )}
      </span>
    </p>
  )
}
