import { Outlet } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useState } from 'react'
import { Toasts } from '../ui/toasts.tsx'
import { Conversations } from './conversations.tsx'
import { PaletteContext } from './palette-context.ts'
import { SidePane } from './side-pane.tsx'

const CommandPalette = lazy(async () => ({
  default: (await import('./command-palette.tsx')).CommandPalette,
}))

/** The frame around every page: the conversations, the page, and the command palette over both. */
export function Shell() {
  const [palette, setPalette] = useState(false)
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      setPalette((open) => !open)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  return (
    <PaletteContext value={() => setPalette(true)}>
      <button
        type="button"
        onClick={() => document.querySelector<HTMLElement>('textarea')?.focus()}
        className="sr-only focus:not-sr-only focus:absolute focus:top-2 focus:left-2 focus:z-50 focus:rounded-md focus:bg-solid focus:px-3 focus:py-1.5 focus:text-solid-ink"
      >
        Skip to the message box
      </button>
      <div className="flex h-full overflow-hidden">
        <SidePane panel="conversations" side="left" label="Conversations" width={240}>
          <Conversations />
        </SidePane>
        <div className="flex min-w-0 flex-1">
          <Outlet />
        </div>
      </div>
      <Toasts />
      {palette && (
        <Suspense>
          <CommandPalette onClose={() => setPalette(false)} />
        </Suspense>
      )}
    </PaletteContext>
  )
}
