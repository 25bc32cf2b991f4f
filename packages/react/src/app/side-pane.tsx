import type { ReactNode } from 'react'
import { cn } from '../ui/cn.ts'
import { Modal } from '../ui/modal.tsx'
import { ResizeHandle } from '../ui/resize-handle.tsx'
import { closeDrawer, type Panels, useIsColumn, usePanel } from './panels.ts'
import { useKeptNumber } from './use-kept-number.ts'

/** Properties of {@link SidePane}. */
export interface SidePaneProps {
  panel: keyof Panels
  side: 'start' | 'end'
  label: string
  /** The initial width of the column, in pixels. A column at the end can be resized. */
  width: number
  children: ReactNode
}

/** Renders a pane next to the thread: a column if there is room, otherwise a drawer over the thread. */
export function SidePane({ panel, side, label, width, children }: SidePaneProps) {
  const isColumn = useIsColumn(panel)
  const open = usePanel(panel)
  const [size, setSize] = useKeptNumber(`byref-width-${panel}`, width)
  if (!open) return null
  if (isColumn && side === 'start') {
    return (
      // The width grows with the text size.
      <div className="h-full shrink-0" style={{ width: `${size / 16}rem` }}>
        {children}
      </div>
    )
  }
  if (isColumn) {
    return (
      <aside
        aria-label={label}
        className="relative h-full max-w-[60vw] shrink-0"
        style={{ width: size }}
      >
        <ResizeHandle
          label={`Width of the ${label.toLowerCase()}`}
          size={size}
          min={320}
          max={960}
          onResize={setSize}
        />
        {children}
      </aside>
    )
  }
  return (
    <Modal
      title={label}
      onClose={closeDrawer}
      className={cn(
        'inset-y-0 bg-surface',
        side === 'start' ? 'inset-s-0 w-[min(92vw,20rem)]' : 'inset-e-0 w-[min(92vw,28rem)]',
      )}
    >
      {children}
    </Modal>
  )
}
