import { Dialog } from 'radix-ui'
import { useRef } from 'react'
import { cn } from './cn.ts'
import { useContainer } from './container.ts'
import type { ModalProps } from './modal.tsx'

/**
 * Renders a dialog over the page. It keeps the focus, closes on Escape and on a click outside, and returns the focus.
 * An element with `data-own-escape` handles Escape itself.
 */
export function ModalDialog({
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
      <Dialog.Portal container={useContainer()}>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/40" />
        <Dialog.Content
          aria-describedby={undefined}
          onEscapeKeyDown={(event) => {
            // Radix gets the event before any element inside.
            if ((event.target as Element).closest('[data-own-escape]')) event.preventDefault()
          }}
          onOpenAutoFocus={(event) => {
            if (focusFirst) return
            // The dialog gets the focus, not its first button, because that would open the button's tooltip.
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
