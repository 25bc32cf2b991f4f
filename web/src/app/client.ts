import { infiniteQueryOptions, QueryCache, QueryClient, queryOptions } from '@tanstack/react-query'
import { ApiError } from 'byref/client'
import { isRecord } from '../ui/is-record.ts'
import { client } from './api.ts'

export { client, isOffline } from './api.ts'

/** What was loaded and how fresh it is, for the whole app. */
export const queries = new QueryClient({
  queryCache: new QueryCache({ onError: (error, { queryKey }) => noticeSignOut(error, queryKey) }),
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      retry: (failures, error) => failures < 2 && error instanceof ApiError && error.transient,
      retryDelay: (failures) => 300 * 2 ** failures,
    },
  },
})

/** Has the page ask for a token where an answer says that there is none that holds (any more). */
export function noticeSignOut(error: unknown, queryKey: readonly unknown[] = []): void {
  const isInfo = queryKey[0] === infoQuery.queryKey[0]
  if (isInfo || !(error instanceof ApiError) || error.status !== 401) return
  // The page asks already: to look again would take away what is being typed there.
  if (queries.getQueryState(infoQuery.queryKey)?.status === 'error') return
  void queries.invalidateQueries({ queryKey: infoQuery.queryKey })
}

/** What runs on the server. */
export const infoQuery = queryOptions({
  queryKey: ['info'],
  queryFn: () => client.info(),
  staleTime: 60_000,
})

/** A page of the list of conversations. */
const PAGE = 50

/**
 * The list of conversations by pages, looked up anew now and then: others may talk too. `search` keeps those whose title
 * or text contains it.
 */
export function conversationsQuery(search = '') {
  return infiniteQueryOptions({
    queryKey: ['conversations', search],
    queryFn: ({ pageParam: cursor }) =>
      client.conversations({ limit: PAGE, cursor, ...(search ? { search } : {}) }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    select: ({ pages }) => pages.flatMap(({ conversations }) => conversations),
    refetchInterval: 15_000,
  })
}

/** How one conversation stands; null where there is none. */
export function conversationQuery(id: string) {
  return queryOptions({
    queryKey: ['conversation', id],
    queryFn: () => client.conversationSummary(id),
  })
}

/** Has what is known of conversations looked up anew: one was made, changed or removed. */
export function forgetConversations(): void {
  void queries.invalidateQueries({ queryKey: ['conversations'] })
  void queries.invalidateQueries({ queryKey: ['conversation'] })
}

/** An asset and its meta by reference or id. Assets never change once saved. */
export function assetQuery(ref: string) {
  return queryOptions({
    queryKey: ['asset', ref],
    queryFn: () => client.asset(ref),
    staleTime: (query) => (query.state.data ? Number.POSITIVE_INFINITY : 0),
  })
}

/** Debug data as they are shown, and as addresses point into them: what is no object stands under `debug`. */
export function debugObject(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : { debug: value }
}

/** A message's debug data, loaded when something shows it; null where there are none. */
export function debugQuery(conversation: string, message: string) {
  return queryOptions({
    queryKey: ['debug', conversation, message],
    queryFn: async ({ signal }) => {
      const value = await client.debug(conversation, message, { signal })
      return value === null ? null : debugObject(value)
    },
    staleTime: (query) => (query.state.data ? Number.POSITIVE_INFINITY : 0),
  })
}
