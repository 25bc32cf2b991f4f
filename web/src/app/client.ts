import { QueryClient, queryOptions } from '@tanstack/react-query'
import { ApiError, createClient } from 'byref/client'

/** The one client of the page's own server. */
export const client = createClient()

/** What was loaded and how fresh it is, for the whole app. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      retry: (failures, error) => failures < 2 && error instanceof ApiError && error.transient,
      retryDelay: (failures) => 300 * 2 ** failures,
    },
  },
})

/** What runs on the server. */
export const infoQuery = queryOptions({
  queryKey: ['info'],
  queryFn: () => client.info(),
  staleTime: 60_000,
})

/** The list of conversations, looked up anew now and then: others may talk too. */
export const conversationsQuery = queryOptions({
  queryKey: ['conversations'],
  queryFn: async () => (await client.conversations({ limit: 200 })).conversations,
  refetchInterval: 15_000,
})

/** Has the list of conversations looked up anew: one was made, changed or removed. */
export function forgetConversations(): void {
  void queries.invalidateQueries({ queryKey: conversationsQuery.queryKey })
}

/** An asset and its meta by reference or id. Assets never change once saved. */
export function assetQuery(ref: string) {
  return queryOptions({
    queryKey: ['asset', ref],
    queryFn: () => client.asset(ref),
    staleTime: (query) => (query.state.data ? Number.POSITIVE_INFINITY : 0),
  })
}

/** A message's debug data, loaded when something shows it. */
export function debugQuery(conversation: string, message: string) {
  return queryOptions({
    queryKey: ['debug', conversation, message],
    queryFn: ({ signal }) => client.debug(conversation, message, { signal }),
    staleTime: (query) => (query.state.data ? Number.POSITIVE_INFINITY : 0),
  })
}
