import { ChevronLeft, ChevronRight } from 'lucide-react'
import { createContext, type ReactNode, use, useMemo } from 'react'
import { type Versions, versionsIn } from '../app/branches.ts'
import { useConversation, useConversationId } from '../app/conversation-context.tsx'
import { PlaceLink, useNavigation } from '../app/navigation.tsx'
import { useFamily } from '../app/use-family.ts'
import { buttonClass } from '../ui/button.tsx'
import { formatCount } from '../ui/format.ts'

const NONE: ReadonlyMap<string, Versions> = new Map()
const Context = createContext(NONE)

/** Provides the versions of the conversation: the branches that "try again" and edits made. */
export function VersionsProvider({ children }: { children: ReactNode }) {
  const id = useConversationId()
  const family = useFamily(id)
  const messages = useConversation((state) => state.messages)
  const versions = useMemo(
    () => (id !== null && family && family.length > 1 ? versionsIn(id, family, messages) : NONE),
    [id, family, messages],
  )
  return <Context value={versions}>{children}</Context>
}

/** Switches between the versions that begin with a message. Renders nothing if there is only one. */
export function VersionSwitch({ messageId }: { messageId: string }) {
  const versions = use(Context).get(messageId)
  const { opensOthers } = useNavigation()
  if (!versions || versions.ids.length < 2 || !opensOthers) return null
  const { ids, index, at } = versions
  return (
    <nav aria-label="Versions of this message" className="flex items-center text-xs text-ink-3">
      <Step to={ids[index - 1]} at={at} label="Previous version">
        <ChevronLeft aria-hidden className="rtl:-scale-x-100" />
      </Step>
      <span className="tabular-nums">
        {formatCount(index + 1)} / {formatCount(ids.length)}
      </span>
      <Step to={ids[index + 1]} at={at} label="Next version">
        <ChevronRight aria-hidden className="rtl:-scale-x-100" />
      </Step>
    </nav>
  )
}

interface StepProps {
  /** The conversation with that version. Absent at the end of the list. */
  to: string | undefined
  at: string | null
  label: string
  children: ReactNode
}

function Step({ to, at, label, children }: StepProps) {
  const look = `${buttonClass('ghost', true)} size-6 [&_svg]:size-3.5`
  if (to === undefined) {
    return (
      <span aria-hidden className={`${look} pointer-events-none opacity-40`}>
        {children}
      </span>
    )
  }
  return (
    <PlaceLink
      to={{
        type: 'path',
        path: `/c/${encodeURIComponent(to)}`,
        hash: at === null ? '' : `m-${at}`,
      }}
      aria-label={label}
      title={label}
      className={look}
    >
      {children}
    </PlaceLink>
  )
}
