'use client'
import type { ReactNode } from 'react'
import { LoadedSoFar } from '../app/conversation-context.tsx'
import { Thread as Messages } from '../thread/thread.tsx'
import { cn } from '../ui/cn.ts'
import { Pane, type PaneProps } from './pane.tsx'

/** Properties of {@link Thread}. */
export interface ThreadProps extends PaneProps {
  /** Shown while a conversation has not started. Default: nothing. */
  empty?: ReactNode
}

/** Renders the messages, calls and results of a conversation, and follows it live. It fills its container. */
export function Thread({ empty, className, ...pane }: ThreadProps) {
  return (
    <Pane {...pane} className={cn('h-full', className)}>
      <LoadedSoFar>
        <Messages key={pane.conversationId} empty={empty} />
      </LoadedSoFar>
    </Pane>
  )
}
