import type { ReactNode } from 'react'
import { ActionError } from './action-error.tsx'
import { Button } from './button.tsx'
import { Modal } from './modal.tsx'
import { useAction } from './use-action.ts'

/** Properties of {@link Confirm}. */
export interface ConfirmProps {
  title: string
  /** What will be lost. */
  children: ReactNode
  /** The text of the button. */
  action: string
  /** Whether the action can be done now. Default: true. */
  isReady?: boolean
  /** Does the action. If it throws, the error is shown and the question stays. */
  onConfirm: () => Promise<void>
  onClose: () => void
}

/** Asks before an action that cannot be undone. */
export function Confirm({
  title,
  children,
  action,
  isReady = true,
  onConfirm,
  onClose,
}: ConfirmProps) {
  const { run, isBusy, error } = useAction(async () => {
    await onConfirm()
    onClose()
  })
  return (
    <Modal
      title={title}
      focusFirst
      onClose={onClose}
      className="inset-x-3 top-[20vh] mx-auto max-h-[75vh] max-w-md animate-appear overflow-y-auto rounded-xl p-4"
    >
      <p aria-hidden className="text-base font-semibold">
        {title}
      </p>
      <div className="mt-1.5 text-sm text-ink-2 [overflow-wrap:anywhere]">{children}</div>
      <ActionError error={error} className="mt-3" />
      <div className="mt-4 flex flex-wrap justify-end gap-2">
        <Button look="outline" onClick={onClose}>
          Cancel
        </Button>
        <Button look="danger" disabled={isBusy || !isReady} onClick={() => run()}>
          {action}
        </Button>
      </div>
    </Modal>
  )
}
