import { type ComponentType, lazy, type ReactNode, Suspense } from 'react'
import { Button } from './button.tsx'
import { cn } from './cn.ts'
import { ErrorBoundary } from './error-boundary.tsx'
import { errorText } from './error-text.ts'
import { Notice } from './notice.tsx'

/**
 * Returns a component whose code is loaded when it is shown for the first time. If it fails, such as without a network, it
 * says so in its place, and the rest of the page stays. One with `onClose` is a dialog.
 *
 * @param fallback Returns what is shown until the code is there. Default: nothing.
 */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  fallback: (props: Props) => ReactNode = () => null,
): (props: Props) => ReactNode {
  const Loaded = lazy(async () => ({ default: await load().catch(notLoaded) }))
  return function LazyPart(props: Props) {
    const { onClose } = props as { onClose?: () => void }
    return (
      <ErrorBoundary fallback={(error) => <Failed error={error} onClose={onClose} />}>
        <Suspense fallback={fallback(props)}>
          <Loaded {...props} />
        </Suspense>
      </ErrorBoundary>
    )
  }
}

/** Browsers remember that a module was not there: another attempt needs another page. */
function notLoaded(cause: unknown): never {
  throw new Error('Check your connection, then reload the page.', { cause })
}

function Failed({ error, onClose }: { error: unknown; onClose?: () => void }) {
  return (
    <Notice
      tone="bad"
      live
      className={cn(onClose && 'fixed inset-x-3 top-14 z-50 mx-auto max-w-md shadow-float')}
      actions={
        <>
          <Button look="outline" onClick={() => location.reload()}>
            Reload
          </Button>
          {onClose && <Button onClick={onClose}>Close</Button>}
        </>
      }
    >
      This part could not be shown. {errorText(error).message}
    </Notice>
  )
}
