import {
  createMemoryHistory,
  createRootRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router'
import { render, screen } from '@testing-library/react'
import { type ConversationState, emptyConversation, type Role } from 'byref/client'
import type { ReactNode } from 'react'
import { ConversationContext } from '../app/conversation-context.tsx'
import { RouterNavigation } from '../app/router-navigation.tsx'
import { ServerContext } from '../app/server.ts'
import { TooltipProvider } from '../ui/tooltip.tsx'
import { server } from './server.ts'

/** Options of {@link renderInApp}. */
export interface RenderOptions {
  state?: ConversationState
  /** The conversation's id. Null is one that has not started. */
  id?: string | null
  /** The address. */
  at?: string
  /** The role of the user. */
  role?: Role
  /** Whether the server has SQL. */
  sql?: boolean
}

/** Renders a part of the app in its surroundings: a router at an address, and a conversation in some state. */
export async function renderInApp(
  part: ReactNode,
  {
    state = emptyConversation,
    id = 'c1',
    at = '/',
    role = 'owner',
    sql = false,
  }: RenderOptions = {},
) {
  const source = {
    id,
    status: 'live',
    error: null,
    loaded: true,
    getState: () => state,
    reconnect: () => {},
    subscribe: () => () => {},
  } as const
  const root = createRootRoute({
    component: () => (
      <RouterNavigation>
        <ConversationContext value={source}>
          <div data-testid="app">{part}</div>
        </ConversationContext>
      </RouterNavigation>
    ),
    notFoundComponent: () => null,
  })
  const router = createRouter({
    routeTree: root,
    history: createMemoryHistory({ initialEntries: [at] }),
  })
  const { queries, infoQuery } = server
  queries.clear()
  queries.setDefaultOptions({ queries: { retry: false } })
  queries.setQueryData(infoQuery.queryKey, {
    name: 'byref',
    version: '0',
    agents: [],
    sql,
    caller: { role, namespace: null, subject: 'anna' },
  })
  const view = render(
    <ServerContext value={server}>
      <TooltipProvider>
        <RouterProvider router={router as never} />
      </TooltipProvider>
    </ServerContext>,
  )
  await screen.findByTestId('app')
  return { ...view, router }
}
