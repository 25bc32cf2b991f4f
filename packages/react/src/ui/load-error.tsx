import { ApiError } from 'byref/client'
import { useEffect } from 'react'
import { Button } from './button.tsx'
import { errorText } from './error-text.ts'
import { Notice } from './notice.tsx'

/** Pause before another attempt after a temporary error, in milliseconds. */
const RETRY_MS = 4000

/**
 * Renders what could not be loaded, why, and a button to try again. A temporary error, such as a server that cannot be
 * reached, is retried automatically.
 */
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
  const isTemporary = error instanceof ApiError && error.transient
  // biome-ignore lint/correctness/useExhaustiveDependencies: each failed attempt has an error of its own
  useEffect(() => {
    if (!isTemporary) return
    const timer = setTimeout(onRetry, RETRY_MS)
    return () => clearTimeout(timer)
  }, [error, isTemporary])
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
