'use client'
import { useRef } from 'react'
import { Composer as MessageForm } from '../composer/composer.tsx'
import { Pane, type PaneProps } from './pane.tsx'

/** Properties of {@link Composer}. */
export interface ComposerProps extends PaneProps {
  /** Whether the message box gets the focus at first. Default: false. */
  autoFocus?: boolean
}

/** Renders the form that sends messages and files. Files can be dropped on it. */
export function Composer({ autoFocus = false, ...pane }: ComposerProps) {
  const element = useRef<HTMLDivElement>(null)
  return (
    <Pane {...pane} ref={element}>
      <MessageForm key={pane.conversationId} autoFocus={autoFocus} dropWithin={element} />
    </Pane>
  )
}
