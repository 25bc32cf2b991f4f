import type { ReactNode } from 'react'
import { cn } from '../ui/cn.ts'
import { Modal } from '../ui/modal.tsx'
import { closeDrawer, type Panels, useIsColumn, usePanel } from './panels.ts'

/** Properties of {@link SidePane}. */
export interface SidePaneProps {
  panel: keyof Panels
  side: 'left' | 'right'
  label: string
  className?: string
  children: ReactNode
}

/** A pane beside the thread: a column where there is room, a drawer over it elsewhere. */
export function SidePane({ panel, side, label, className, children }: SidePaneProps) {
  const isColumn = useIsColumn(panel)
  const open = usePanel(panel)
  if (isColumn) {
    return open ? <div className={cn('h-full shrink-0', className)}>{children}</div> : null
  }
  if (!open) return null
  return (
    <Modal
      title={label}
      onClose={closeDrawer}
      className={cn(
        'inset-y-0 w-[min(92vw,26rem)] bg-surface',
        side === 'left' ? 'left-0 w-[min(84vw,20rem)]' : 'right-0',
      )}
    >
      {children}
    </Modal>
  )
}
