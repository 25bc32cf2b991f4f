import { type ReactNode, useState } from 'react'
import { Button } from './button.tsx'
import { errorText } from './error-text.ts'
import { Modal } from './modal.tsx'
import { Notice } from './notice.tsx'

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
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<{ code?: string; message: string } | null>(null)

  async function confirm(): Promise<void> {
    setBusy(true)
    setProblem(null)
    try {
      await onConfirm()
      onClose()
    } catch (error) {
      setProblem(errorText(error))
      setBusy(false)
    }
  }

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
      {problem && (
        <Notice tone="bad" code={problem.code} live className="mt-3">
          {problem.message}
        </Notice>
      )}
      <div className="mt-4 flex flex-wrap justify-end gap-2">
        <Button look="outline" onClick={onClose}>
          Cancel
        </Button>
        <Button look="danger" disabled={busy || !isReady} onClick={() => void confirm()}>
          {action}
        </Button>
      </div>
    </Modal>
  )
}
