'use client'
import { useEffect } from 'react'
import { Inspector as Tabs } from '../inspector/inspector.tsx'
import { cn } from '../ui/cn.ts'
import { usePlaces } from './byref-provider.tsx'
import { Pane, type PaneProps } from './pane.tsx'

/** Properties of {@link Inspector}. */
export interface InspectorProps extends PaneProps {}

/**
 * Renders the data behind a conversation in tabs: assets, data, runs, prompts, messages and checks. References in the
 * thread of the same conversation open in it. It fills its container.
 */
export function Inspector({ className, ...pane }: InspectorProps) {
  const places = usePlaces()
  const { conversationId } = pane
  useEffect(() => places.addInspector(conversationId ?? ''), [places, conversationId])
  return (
    <Pane {...pane} className={cn('h-full', className)}>
      <Tabs key={conversationId} />
    </Pane>
  )
}
