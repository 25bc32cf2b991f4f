import * as ReactQuery from '@tanstack/react-query'
import { useServer } from './server.ts'

// A provider of TanStack Query would also be that of the app's own queries inside the panes.

/** `useQuery` of TanStack Query, on the server of the panes. */
export const useQuery = onServer(ReactQuery.useQuery)

/** `useQueries` of TanStack Query, on the server of the panes. */
export const useQueries = onServer(ReactQuery.useQueries)

/** `useInfiniteQuery` of TanStack Query, on the server of the panes. */
export const useInfiniteQuery = onServer(ReactQuery.useInfiniteQuery)

function onServer<Hook extends (options: never, client?: ReactQuery.QueryClient) => unknown>(
  useHook: Hook,
): Hook {
  return ((options) => useHook(options, useServer().queries)) as Hook
}
