import { Dialog } from 'radix-ui'
import { type ReactNode, useState } from 'react'
import { cn } from './cn.ts'
import { useContainer } from './container.ts'
import { type FocusPlace, focusNear, isFocusLost, placeOf } from './focus-place.ts'

/** Properties of a dialog. */
export interface ModalProps {
  /** The name, for screen readers. */
  title: string
  onClose: () => void
  /** Returns where the focus goes on closing if the previous element is gone. */
  returnTo?: () => HTMLElement | null | undefined
  /** Whether the first field or button gets the focus on opening, instead of the dialog. */
  focusFirst?: boolean
  className?: string
  children: ReactNode
}

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
  const [origin] = useState(() => originOf(document.activeElement))
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal container={useContainer()}>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/40" />
        <Dialog.Content
          ref={(content) => {
            if (content && origin) origins.set(content, origin)
          }}
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
            // What the dialog did may have moved the focus, for example to another dialog.
            if (isFocusLost()) goBack(origin, returnTo)
          }}
          className={cn(
            'fixed z-50 flex flex-col bg-raised shadow-float outline-hidden',
            className,
          )}
        >
          <Dialog.Title className="sr-only">{title}</Dialog.Title>
          {children}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

/** Where a dialog was opened. */
interface Origin {
  element: HTMLElement
  place: FocusPlace
  /** Where the dialog or the menu around the element was opened: it may close at once. */
  outer: Origin | null
}

/** Where each open dialog was opened. */
const origins = new WeakMap<Element, Origin>()

function originOf(element: Element | null): Origin | null {
  if (!(element instanceof HTMLElement) || element === document.body) return null
  const around = element.closest('[role=dialog], [role=menu]')
  const button = around?.role === 'menu' ? around.getAttribute('aria-labelledby') : null
  const outer = button === null ? origins.get(around ?? element) : originOf(byId(button))
  return { element, place: placeOf(element), outer: outer ?? null }
}

function byId(id: string): HTMLElement | null {
  return document.getElementById(id)
}

/** Moves the focus back, or near to where it was if that is gone. */
function goBack(origin: Origin | null, returnTo: ModalProps['returnTo']): void {
  for (let one = origin; one && isFocusLost(); one = one.outer) {
    if (one.element.isConnected) one.element.focus()
  }
  if (isFocusLost()) returnTo?.()?.focus()
  for (let one = origin; one && isFocusLost(); one = one.outer) focusNear(one.place)
}
