'use client'
import { createMemoryHistory, RouterProvider } from '@tanstack/react-router'
import { type Client, createClient, type EventsPage } from 'byref/client'
import { useState, useSyncExternalStore } from 'react'
import { Root } from './app/root.tsx'
import { createWorkbenchRouter } from './app/router.tsx'
import { createServer } from './app/server.ts'
import { type Theme, useTheme } from './app/theme.ts'
import type { Renderers } from './renderers/renderers-context.ts'
import { readHash } from './thread/read-hash.ts'

/** Properties of {@link Workbench}. */
export interface WorkbenchProps {
  /** The client of a byref server. Default: the server of the page. */
  client?: Client
  /** Custom renderers. Create them outside of components, because a new object renders everything again. */
  renderers?: Renderers
  /** Default: what the person chooses in the workbench, at first that of the operating system. */
  theme?: Theme
  /** The path of your app under which the workbench is, such as `/admin/byref`. Default: `/`. */
  basePath?: string
  /** Keeps the address in memory instead of in the browser, and starts at this path, such as `/c/<id>`. */
  path?: string
  /**
   * The URL of the files of byref's own workbench: a sample file, sample conversations, and the page for "Save as HTML".
   * Without it, these are not offered.
   */
  filesUrl?: string
  /** The first events of the conversation in the address, requested before the app was there. */
  firstPage?: Promise<EventsPage | null>
  /** Set for a saved page: there is no server, and the client answers from data, with or without debug data. */
  saved?: { debug: boolean }
}

const NONE: Renderers = {}

/**
 * Renders the whole workbench. It fills its container, and uses the address of the page unless `path` is given. Only
 * browsers render it.
 */
export function Workbench(props: WorkbenchProps) {
  const isBrowser = useSyncExternalStore(subscribe, yes, no)
  return isBrowser ? <App {...props} /> : <div className="byref h-full" />
}

function App({
  client,
  renderers = NONE,
  theme,
  basePath,
  path,
  filesUrl,
  firstPage,
  saved,
}: WorkbenchProps) {
  const chosen = useTheme()
  const [server] = useState(() => {
    const id = /^\/c\/([^/]+)/.exec(location.pathname)?.[1]
    const first = firstPage && id !== undefined ? { id: readHash(id), page: firstPage } : undefined
    return createServer(client ?? createClient(), { saved, first, filesUrl })
  })
  const [router] = useState(() =>
    createWorkbenchRouter({
      basepath: basePath,
      history: path === undefined ? undefined : createMemoryHistory({ initialEntries: [path] }),
    }),
  )
  return (
    <Root server={server} renderers={renderers} theme={theme ?? chosen}>
      <RouterProvider router={router} />
    </Root>
  )
}

const subscribe = () => () => {}
const yes = () => true
const no = () => false
