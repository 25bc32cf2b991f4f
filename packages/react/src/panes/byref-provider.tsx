'use client'
import type { Client } from 'byref/client'
import { createContext, type ReactNode, use, useMemo, useState } from 'react'
import { OpenPlaces } from '../app/pane-navigation.tsx'
import { Root } from '../app/root.tsx'
import { createServer } from '../app/server.ts'
import type { Theme } from '../app/theme.ts'
import type { Renderers } from '../renderers/renderers-context.ts'

const PlacesContext = createContext<OpenPlaces | null>(null)

/** Properties of {@link ByrefProvider}. */
export interface ByrefProviderProps {
  /** The client of a byref server: `createClient({ baseUrl })`. Create it outside of components. */
  client: Client
  /** Custom renderers. Create them outside of components, because a new object renders everything again. */
  renderers?: Renderers
  /** Default: `system`, which follows the operating system. */
  theme?: Theme
  children: ReactNode
}

const NONE: Renderers = {}

/**
 * Connects the panes inside to a byref server. A page can have several providers, with different servers. It changes no
 * context of the app: your own TanStack Query and your own router work inside.
 */
export function ByrefProvider({
  client,
  renderers = NONE,
  theme = 'system',
  children,
}: ByrefProviderProps) {
  if (!client) throw new Error('<ByrefProvider> needs a client: client={createClient()}')
  const server = useMemo(() => createServer(client), [client])
  const [places] = useState(() => new OpenPlaces())
  return (
    <PlacesContext value={places}>
      <Root server={server} renderers={renderers} theme={theme}>
        {children}
      </Root>
    </PlacesContext>
  )
}

/** Returns what is open in the conversations of the provider. */
export function usePlaces(): OpenPlaces {
  const places = use(PlacesContext)
  if (!places) throw new Error('Put this component inside a <ByrefProvider>.')
  return places
}
