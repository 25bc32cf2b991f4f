import { Direction } from 'radix-ui'
import { createContext, type ReactNode, use, useEffect, useState } from 'react'
import { type Renderers, RenderersContext } from '../renderers/renderers-context.ts'
import { ContainerContext } from '../ui/container.ts'
import { useDirection } from '../ui/direction.ts'
import { TooltipProvider } from '../ui/tooltip.tsx'
import { useMedia } from '../ui/use-media.ts'
import { Notifications } from './notifications.tsx'
import { type Server, ServerContext } from './server.ts'
import type { Theme } from './theme.ts'
import { useKeptFocus } from './use-kept-focus.ts'

const ThemeContext = createContext<Theme>('system')

/** Properties of {@link Root}. */
export interface RootProps {
  server: Server
  renderers: Renderers
  theme: Theme
  children: ReactNode
}

/** Provides what panes share, and renders what floats above them: menus, dialogs and notifications. */
export function Root({ server, renderers, theme, children }: RootProps) {
  const [container, setContainer] = useState<HTMLElement | null>(null)
  useKeptFocus()
  const direction = useDirection(container)
  const { attachedFiles, outbox, queries } = server
  useEffect(() => {
    queries.mount()
    return () => queries.unmount()
  }, [queries])
  useEffect(() => {
    // The browser asks whether to leave, because uploads would stop.
    const onLeave = (event: Event) => attachedFiles.isUploading && event.preventDefault()
    addEventListener('beforeunload', onLeave)
    return () => {
      removeEventListener('beforeunload', onLeave)
      outbox.clear()
      attachedFiles.clear()
    }
  }, [attachedFiles, outbox])
  return (
    <ServerContext value={server}>
      <RenderersContext value={renderers}>
        <ThemeContext value={theme}>
          <ContainerContext value={container}>
            <Direction.Provider dir={direction}>
              <TooltipProvider>
                {children}
                <div className="byref" data-theme={themeOf(theme)}>
                  <Notifications />
                  {/* Menus open here, so that they are inside a landmark like everything on the page. */}
                  <section ref={setContainer} aria-label="Menus" />
                </div>
              </TooltipProvider>
            </Direction.Provider>
          </ContainerContext>
        </ThemeContext>
      </RenderersContext>
    </ServerContext>
  )
}

/** Returns the properties of an element in which the styles of byref apply. */
export function useRootProps(className: string | undefined): {
  className: string
  'data-theme': Theme | undefined
} {
  const theme = use(ThemeContext)
  return { className: ['byref', className].filter(Boolean).join(' '), 'data-theme': themeOf(theme) }
}

/** Returns whether the visible theme of this pane is dark. */
export function useIsDark(): boolean {
  const theme = use(ThemeContext)
  const isSystemDark = useMedia('(prefers-color-scheme: dark)')
  return theme === 'system' ? isSystemDark : theme === 'dark'
}

function themeOf(theme: Theme): Theme | undefined {
  return theme === 'system' ? undefined : theme
}
