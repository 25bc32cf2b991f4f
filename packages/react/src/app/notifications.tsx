import { X } from 'lucide-react'
import { useSyncExternalStore } from 'react'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'
import { useServer } from './server.ts'

/** Renders the notifications at the top of the page, until a person dismisses them. */
export function Notifications() {
  const { toasts } = useServer()
  const shown = useSyncExternalStore(toasts.subscribe, toasts.get, toasts.get)
  return (
    <section
      aria-label="Notifications"
      data-floats
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
            <Button icon aria-label="Dismiss" onClick={() => toasts.dismiss(key)}>
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
