import { Button } from './button.tsx'
import { errorText } from './error-text.ts'
import { Notice } from './notice.tsx'

/** Renders what could not be loaded, why, and a button to try again. */
export function LoadError({
  what,
  error,
  onRetry,
}: {
  what: string
  error: unknown
  onRetry: () => void
}) {
  const { code, message } = errorText(error)
  return (
    <Notice
      tone="bad"
      code={code}
      live
      actions={
        <Button look="outline" onClick={onRetry}>
          Retry
        </Button>
      }
    >
      {what} could not be loaded. {message}
    </Notice>
  )
}
