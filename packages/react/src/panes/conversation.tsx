'use client'
import { type ReactNode, useRef, useState } from 'react'
import { LoadedSoFar } from '../app/conversation-context.tsx'
import { Composer } from '../composer/composer.tsx'
import { Thread } from '../thread/thread.tsx'
import { cn } from '../ui/cn.ts'
import { Pane, type PaneProps } from './pane.tsx'

/** Properties of {@link Conversation}. */
export interface ConversationProps extends Omit<PaneProps, 'conversationId'> {
  /**
   * The conversation. Null is a new one, whose id `onConversation` gets. Without one of the two, the component keeps the
   * id of the new one itself.
   */
  conversationId?: string | null
  /** Shown while the conversation has not started. Default: nothing. */
  empty?: ReactNode
  /** Whether the message box gets the focus at first. Default: false. */
  autoFocus?: boolean
}

/** Renders a thread with the form that sends messages below it. It fills its container. */
export function Conversation({
  conversationId,
  onConversation,
  empty,
  autoFocus = false,
  className,
  style,
}: ConversationProps) {
  const element = useRef<HTMLDivElement>(null)
  const [own, setOwn] = useState<string | null>(null)
  const keepsId = conversationId === undefined || (conversationId === null && !onConversation)
  const id = keepsId ? own : conversationId
  return (
    <Pane
      conversationId={id}
      onConversation={keepsId ? setOwn : onConversation}
      className={cn('h-full', className)}
      style={style}
      ref={element}
    >
      <LoadedSoFar>
        <Thread key={id} empty={empty} />
      </LoadedSoFar>
      <Composer key={`composer ${id}`} autoFocus={autoFocus} dropWithin={element} />
    </Pane>
  )
}
