import { Outlet } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useState } from 'react'
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
      <div className="flex h-full overflow-hidden">
        <SidePane panel="conversations" side="left" label="Conversations" className="w-60">
          <Conversations />
        </SidePane>
        <div className="flex min-w-0 flex-1">
          <Outlet />
        </div>
      </div>
      {palette && (
        <Suspense>
          <CommandPalette onClose={() => setPalette(false)} />
        </Suspense>
      )}
    </PaletteContext>
  )
}
