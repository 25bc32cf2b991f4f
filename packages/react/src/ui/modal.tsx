import { lazy, type ReactNode, Suspense } from 'react'

const ModalDialog = lazy(async () => ({
  default: (await import('./modal-dialog.tsx')).ModalDialog,
}))

/** Properties of {@link Modal}. */
export interface ModalProps {
  /** The name, for screen readers, and shown if there is a `header`. */
  title: string
  onClose: () => void
  /** Returns where the focus goes on closing if the previous element is gone. */
  returnTo?: () => HTMLElement | null | undefined
  /** Whether the first field or button gets the focus on opening, instead of the dialog. */
  focusFirst?: boolean
  className?: string
  children: ReactNode
}

/** Renders a dialog over the page. Its code is loaded when the first one opens. */
export function Modal(props: ModalProps) {
  return (
    <Suspense>
      <ModalDialog {...props} />
    </Suspense>
  )
}
