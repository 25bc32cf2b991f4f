import { X } from 'lucide-react'
import { useSyncExternalStore } from 'react'
import { Button } from './button.tsx'
import { errorText } from './error-text.ts'
import { Notice } from './notice.tsx'

interface Toast {
  key: number
  tone: 'bad' | 'info'
  text: string
  code?: string
}

const MOST = 3
const listeners = new Set<() => void>()
let toasts: readonly Toast[] = []
let lastKey = 0

/** Reports an action that failed, from anywhere on the page. `what` is a whole sentence. */
export function tellError(what: string, error: unknown): void {
  const { code, message } = errorText(error)
  tell({ tone: 'bad', text: `${what} ${message}`, code })
}

function tell(toast: Omit<Toast, 'key'>): void {
  lastKey += 1
  change([...toasts.slice(1 - MOST), { ...toast, key: lastKey }])
}

/** Removes all notifications. */
export function clearToasts(): void {
  change([])
}

function change(next: readonly Toast[]): void {
  toasts = next
  for (const listener of listeners) listener()
}

/** Renders the notifications at the top of the page, until a person dismisses them. */
export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => toasts,
  )
  return (
    <section
      aria-label="Notifications"
      className="pointer-events-none fixed inset-x-3 top-14 z-50 mx-auto flex max-w-md flex-col gap-2"
    >
      {shown.map(({ key, tone, text, code }) => (
        <Notice
          key={key}
          tone={tone}
          code={code}
          live
          className="pointer-events-auto animate-appear shadow-float"
          actions={
            <Button
              icon
              aria-label="Dismiss"
              onClick={() => change(toasts.filter((toast) => toast.key !== key))}
            >
              <X aria-hidden />
            </Button>
          }
        >
          {text}
        </Notice>
      ))}
    </section>
  )
}
