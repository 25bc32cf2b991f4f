import { Dialog } from 'radix-ui'
import type { ReactNode } from 'react'
import { cn } from '../ui/cn.ts'
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
  return (
    <Dialog.Root open={open} onOpenChange={(next) => !next && closeDrawer()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-30 bg-black/40" />
        <Dialog.Content
          aria-describedby={undefined}
          className={cn(
            'fixed inset-y-0 z-40 flex w-[min(92vw,26rem)] flex-col bg-surface shadow-float outline-none',
            side === 'left' ? 'left-0 w-[min(84vw,20rem)]' : 'right-0',
          )}
        >
          <Dialog.Title className="sr-only">{label}</Dialog.Title>
          {children}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
