import { lazy, Suspense } from 'react'
import type { ModalProps } from './modal-dialog.tsx'

const ModalDialog = lazy(async () => ({
  default: (await import('./modal-dialog.tsx')).ModalDialog,
}))

/** Renders a dialog over the page. Its code is loaded when the first one opens. */
export function Modal(props: ModalProps) {
  return (
    <Suspense>
      <ModalDialog {...props} />
    </Suspense>
  )
}
