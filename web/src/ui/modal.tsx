import { Dialog } from 'radix-ui'
import { type ReactNode, useRef } from 'react'
import { cn } from './cn.ts'

/** Properties of {@link Modal}. */
export interface ModalProps {
  /** What it is called, for screen readers and where `header` shows it. */
  title: string
  onClose: () => void
  /** Where focus goes on closing when what had it before is gone. */
  returnTo?: () => HTMLElement | null | undefined
  /** Whether the first field or button gets the focus on opening, instead of the whole. */
  focusFirst?: boolean
  className?: string
  children: ReactNode
}

/**
 * Something over the page: keeps focus, closes by Escape and a press outside, and gives focus back. What has
 * `data-own-escape` has another use for Escape.
 */
export function Modal({
  title,
  onClose,
  returnTo,
  focusFirst = false,
  className,
  children,
}: ModalProps) {
  const before = useRef(document.activeElement)
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/40" />
        <Dialog.Content
          aria-describedby={undefined}
          onEscapeKeyDown={(event) => {
            // Radix listens before anything within does.
            if ((event.target as Element).closest('[data-own-escape]')) event.preventDefault()
          }}
          onOpenAutoFocus={(event) => {
            if (focusFirst) return
            // The frame has the focus, not its first button: that would open the button's tooltip.
            event.preventDefault()
            ;(event.currentTarget as HTMLElement).focus()
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault()
            const had = before.current
            const target = had instanceof HTMLElement && had !== document.body && had.isConnected
            ;(target ? had : returnTo?.())?.focus()
          }}
          className={cn('fixed z-50 flex flex-col bg-raised shadow-float outline-none', className)}
        >
          <Dialog.Title className="sr-only">{title}</Dialog.Title>
          {children}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
