import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  type RouterHistory,
} from '@tanstack/react-router'
import { lazyPart } from '../ui/lazy-part.tsx'
import { LoadError } from '../ui/load-error.tsx'
import { ConversationPage } from './conversation-page.tsx'
import { NotFound } from './not-found.tsx'
import { Shell } from './shell.tsx'
import { readView } from './view.ts'

const AssetPage = lazyPart(async () => (await import('./asset-page.tsx')).AssetPage)
const RunsPage = lazyPart(async () => (await import('../runs/runs-page.tsx')).RunsPage)

const root = createRootRoute({
  component: Shell,
  notFoundComponent: NotFound,
  errorComponent: Failed,
})

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  validateSearch: readView,
  component: () => <ConversationPage id={null} />,
})

const conversation = createRoute({
  getParentRoute: () => root,
  path: '/c/$conversationId',
  validateSearch: readView,
  component: function Conversation() {
    return <ConversationPage id={conversation.useParams().conversationId} />
  },
})

const asset = createRoute({
  getParentRoute: () => root,
  path: '/assets/$assetId',
  component: AssetPage,
})

const assetField = createRoute({
  getParentRoute: () => root,
  path: '/assets/$assetId/$',
  component: AssetPage,
})

const runs = createRoute({
  getParentRoute: () => root,
  path: '/runs',
  component: RunsPage,
})

/** Creates a router with all addresses of the app. */
export function createWorkbenchRouter(options: { history?: RouterHistory; basepath?: string }) {
  return createRouter({
    routeTree: root.addChildren([home, conversation, asset, assetField, runs]),
    defaultHashScrollIntoView: false,
    ...options,
  })
}

function Failed({ error, reset }: ErrorComponentProps) {
  return (
    <main className="m-auto max-w-lg p-6">
      <LoadError what="This page" error={error} onRetry={reset} />
    </main>
  )
}
