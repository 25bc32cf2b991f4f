import { errorText } from './error-text.ts'
import { Notice } from './notice.tsx'

/** Properties of {@link ActionError}. */
export interface ActionErrorProps {
  /** Null if the action did not fail. */
  error: unknown
  /** What the failure means, as a whole sentence. */
  what?: string
  className?: string
}

/** Says why an action of the user failed. */
export function ActionError({ error, what, className }: ActionErrorProps) {
  if (error === null) return null
  const { code, message } = errorText(error)
  return (
    <Notice tone="bad" code={code} live className={className}>
      {what && `${what} `}
      {message}
    </Notice>
  )
}
