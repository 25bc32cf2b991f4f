import type { ConversationSummary } from 'byref/client'
import { CornerLeftUp, CornerRightDown } from 'lucide-react'
import { useConversation, useConversationId } from '../app/conversation-context.tsx'
import { PlaceLink, useNavigation } from '../app/navigation.tsx'
import { useServer } from '../app/server.ts'
import { useInfiniteQuery } from '../app/server-queries.ts'

const LINK = 'rounded text-ring underline underline-offset-2'

/** Returns the id of the conversation in which a sub-agent answers a call. */
export function subConversationId(conversation: string | null, callId: string): string {
  return `${conversation}/${callId}`
}

/** Links from a call to the conversation of its sub-agent, if the list of conversations has it. */
export function SubAgentLink({ callId }: { callId: string }) {
  const { conversationsQuery } = useServer()
  const { opensOthers } = useNavigation()
  const sub = subConversationId(useConversationId(), callId)
  const { data: found } = useInfiniteQuery({
    ...conversationsQuery(),
    // The list is not loaded for this.
    enabled: false,
    select: ({ pages }): ConversationSummary | undefined =>
      pages.flatMap(({ conversations }) => conversations).find(({ id }) => id === sub),
  })
  if (!found || !opensOthers) return null
  return (
    <p className="flex items-center gap-1.5 border-t border-line px-2.5 py-1.5 text-ink-2">
      <CornerRightDown className="size-3.5 shrink-0" aria-hidden />
      <span>
        Another agent answers this call.{' '}
        <PlaceLink to={{ type: 'path', path: `/c/${encodeURIComponent(sub)}` }} className={LINK}>
          Open its conversation
        </PlaceLink>
      </span>
    </p>
  )
}

/** Says that this is the conversation of a sub-agent, and links to the call that it answers. */
export function SubAgentOrigin() {
  const { isOffline } = useServer()
  const { opensOthers } = useNavigation()
  const id = useConversationId()
  const callId = useConversation(({ runs }) => runs[0]?.toolCallId)
  // A fork has another id.
  if (callId === undefined || !id?.endsWith(`/${callId}`)) return null
  if (isOffline || !opensOthers) return null
  const parent = id.slice(0, -callId.length - 1)
  return (
    <p className="mb-3 flex items-center gap-1.5 text-xs text-ink-2">
      <CornerLeftUp className="size-3.5 shrink-0" aria-hidden />
      <span>
        In this conversation, an agent answers a call of another agent.{' '}
        <PlaceLink
          to={{
            type: 'path',
            path: `/c/${encodeURIComponent(parent)}`,
            hash: `call-${callId}`,
          }}
          className={LINK}
        >
          Go to the call
        </PlaceLink>
      </span>
    </p>
  )
}
