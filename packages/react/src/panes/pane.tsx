import type { CSSProperties, ReactNode, Ref } from 'react'
import { ConversationProvider } from '../app/conversation-context.tsx'
import { PaneNavigation } from '../app/pane-navigation.tsx'
import { useRootProps } from '../app/root.tsx'
import { LabelsProvider } from '../trust/labels-context.tsx'
import { cn } from '../ui/cn.ts'
import { usePlaces } from './byref-provider.tsx'

/** Properties of every pane. */
export interface PaneProps {
  /** The conversation that the pane shows. Null is a new one, which the first message creates. */
  conversationId: string | null
  /**
   * Called when a person opens another conversation: with the first message, a fork or a new attempt. Without it, forks
   * and new attempts are not offered.
   */
  onConversation?: (id: string) => void
  className?: string
  style?: CSSProperties
}

/** Surrounds a pane with its conversation and the element in which the styles apply. */
export function Pane({
  // In JavaScript, a router may not know the id yet.
  conversationId = null,
  onConversation,
  className,
  style,
  ref,
  children,
}: PaneProps & { ref?: Ref<HTMLDivElement>; children: ReactNode }) {
  const { className: rootClass, ...root } = useRootProps(className)
  return (
    <PaneNavigation id={conversationId} places={usePlaces()} onConversation={onConversation}>
      <ConversationProvider id={conversationId}>
        <LabelsProvider>
          <div
            ref={ref}
            {...root}
            className={cn('relative flex min-h-0 min-w-0 flex-col bg-surface', rootClass)}
            style={style}
          >
            {children}
          </div>
        </LabelsProvider>
      </ConversationProvider>
    </PaneNavigation>
  )
}
