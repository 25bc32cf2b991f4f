import {
  type InfiniteData,
  infiniteQueryOptions,
  QueryClient,
  queryOptions,
} from '@tanstack/react-query'
import {
  ApiError,
  type AssetInfo,
  type Client,
  type ConversationChange,
  type ConversationSummary,
  type ConversationsPage,
  type EventsPage,
  type LabelsInfo,
} from 'byref/client'
import { createContext, use } from 'react'
import { AttachedFiles } from '../composer/attached-files.ts'
import { Outbox } from '../composer/outbox.ts'
import { isRecord } from '../ui/is-record.ts'
import { ToastList } from '../ui/toast-list.ts'
import { visibleText } from '../ui/visible-text.ts'
import { newestVersions, rootOf } from './branches.ts'
import { LiveConversations } from './live-conversations.ts'

/** Options of {@link createServer}. */
export interface ServerOptions {
  /** Set if there is no server: the client answers from a saved page, with or without debug data. */
  saved?: { debug: boolean }
  /** The first events of a conversation, requested before the app was there. */
  first?: { id: string; page: Promise<EventsPage | null> }
  /** Where the files of byref's own workbench are. Without them, samples and "Save as HTML" are not offered. */
  filesUrl?: string
}

/** A server as the panes use it: its client, and what was loaded from it. */
export type Server = ReturnType<typeof createServer>

/** A page of the list of conversations. */
const PAGE = 50

/** Minimum pause between two requests for runs, in milliseconds. */
const FORGET_RUNS_MS = 500

/** The loaded pages of the list of conversations. */
export type ConversationPages = InfiniteData<ConversationsPage>

/** Binds everything that the panes share to one client, so that a page can show more than one server. */
export function createServer(own: Client, { saved, first, filesUrl }: ServerOptions = {}) {
  const client = reporting(own, {
    onSuccess: () => conversations.reconnect(),
    onFailure: noticeSignOut,
  })
  const conversations = new LiveConversations(client, first)
  const queries = new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        retry: (failures, error) => failures < 2 && error instanceof ApiError && error.transient,
        retryDelay: (failures) => 300 * 2 ** failures,
      },
    },
  })

  /** Information about the server. */
  const infoQuery = queryOptions({
    queryKey: ['info'],
    queryFn: () => client.info(),
    staleTime: 60_000,
  })

  /** Shows the sign-in form if an answer says that the token is missing or no longer valid. */
  function noticeSignOut(error: unknown): void {
    if (!(error instanceof ApiError) || error.status !== 401) return
    // The form is already shown. Loading again would clear what the person is typing.
    if (queries.getQueryState(infoQuery.queryKey)?.status === 'error') return
    void queries.invalidateQueries({ queryKey: infoQuery.queryKey })
  }

  /**
   * Returns the list of conversations by pages, which {@link followConversations} keeps up to date. `search` keeps the conversations whose title or text contains it.
   */
  function conversationsQuery(search = '') {
    return infiniteQueryOptions({
      queryKey: ['conversations', search],
      queryFn: ({ pageParam: cursor }) =>
        client.conversations({ limit: PAGE, cursor, ...(search ? { search } : {}) }),
      initialPageParam: undefined as string | undefined,
      getNextPageParam: ({ next }) => next ?? undefined,
      select: ({ pages }) => newestVersions(pages.flatMap(({ conversations }) => conversations)),
    })
  }

  let forgettingRuns: ReturnType<typeof setTimeout> | null = null
  let followers = 0
  let following = new AbortController()

  /**
   * Updates the list of conversations as it changes, while the page is visible. Several callers share one connection.
   * Returns the function that stops it.
   */
  function followConversations(): () => void {
    if (followers++ === 0) {
      following = new AbortController()
      const { signal } = following
      client.followConversations(takeChange, { signal, whileVisible: true }).catch(() => {})
    }
    return () => {
      if (--followers === 0) following.abort()
    }
  }

  function takeChange(change: ConversationChange): void {
    if (change.type === 'reset') {
      forgetConversations()
      return
    }
    const id = change.type === 'deleted' ? change.id : change.conversation.id
    const now = change.type === 'deleted' ? null : change.conversation
    queries.setQueryData(conversationQuery(id).queryKey, now)
    queries.setQueryData<ConversationPages>(
      conversationsQuery().queryKey,
      (known) => known && { ...known, pages: withChange(known.pages, id, now) },
    )
    if (now?.branch) {
      const { queryKey } = branchesQuery(now.branch.root)
      const known = queries.getQueryData(queryKey)
      if (known && !known.some((one) => one.id === id)) void queries.invalidateQueries({ queryKey })
    }
    // Only the server can search. It is not asked during a run, which changes the conversation many times.
    if (now?.status === 'running') return
    forgetRuns()
    void queries.invalidateQueries({
      queryKey: ['conversations'],
      predicate: ({ queryKey }) => queryKey[1] !== '',
    })
  }

  /** Marks the runs as outdated, but only once in a while: many may end at the same time. */
  function forgetRuns(): void {
    if (forgettingRuns) return
    forgettingRuns = setTimeout(() => {
      forgettingRuns = null
      void queries.invalidateQueries({ queryKey: ['runs'] })
    }, FORGET_RUNS_MS)
  }

  /** Returns the summary of one conversation, or null. */
  function conversationQuery(id: string) {
    return queryOptions({
      queryKey: ['conversation', id],
      queryFn: () => client.conversationSummary(id),
      // The list knows its title already, so that the heading does not change while this loads.
      placeholderData: () =>
        queries
          .getQueriesData<ConversationPages>({ queryKey: ['conversations'] })
          .flatMap(([, known]) => known?.pages ?? [])
          .flatMap(({ conversations }) => conversations)
          .find((one) => one.id === id),
    })
  }

  /** Returns a conversation and its branches. */
  function branchesQuery(root: string) {
    return queryOptions({
      queryKey: ['conversation', 'branches', root],
      queryFn: async () =>
        (await client.conversations({ branchesOf: root, limit: 500 })).conversations,
    })
  }

  /** Loads a conversation with its branches anew. Empty if it does not exist. */
  async function loadFamily(id: string): Promise<ConversationSummary[]> {
    const conversation = await queries.fetchQuery({ ...conversationQuery(id), staleTime: 0 })
    if (!conversation) return []
    return queries.fetchQuery({ ...branchesQuery(rootOf(conversation)), staleTime: 0 })
  }

  /** Marks the list of conversations as outdated, because one was created, changed or removed. */
  function forgetConversations(): void {
    void queries.invalidateQueries({ queryKey: ['conversations'] })
    void queries.invalidateQueries({ queryKey: ['conversation'] })
    forgetRuns()
  }

  /** Returns an asset and its meta by reference or id. Assets never change once saved. */
  function assetQuery(ref: string) {
    return queryOptions({
      queryKey: ['asset', ref],
      queryFn: async () => {
        const found = await client.asset(ref)
        const name = found?.asset.name
        return found && name
          ? { ...found, asset: { ...found.asset, name: visibleText(name) } }
          : found
      },
      staleTime: (query) => (query.state.data ? Number.POSITIVE_INFINITY : 0),
    })
  }

  /**
   * Returns the versions of an asset, oldest first. `made` is the number of edits that the conversation knows: another
   * one makes the list outdated.
   */
  function versionsQuery(id: string, made = 0) {
    return queryOptions({
      queryKey: ['versions', id, made],
      queryFn: () => client.versions(id),
      // The list of another version is the same, so that nothing moves while this loads.
      placeholderData: () =>
        queries
          .getQueriesData<AssetInfo[]>({ queryKey: ['versions'] })
          .flatMap(([, known]) => (known?.some(({ assetId }) => assetId === id) ? [known] : []))
          .toSorted((a, b) => b.length - a.length)[0],
    })
  }

  /** Returns a message's debug data, loaded when they are shown. Null if there are none. */
  function debugQuery(conversation: string, message: string) {
    return queryOptions({
      queryKey: ['debug', conversation, message],
      queryFn: async ({ signal }) => {
        const value = await client.debug(conversation, message, { signal })
        return value === null ? null : debugObject(value)
      },
      staleTime: (query) => (query.state.data ? Number.POSITIVE_INFINITY : 0),
    })
  }

  const toasts = new ToastList()
  /** Loads a file of byref's own workbench. Throws an `Error` if it is not there. */
  async function loadFile(path: string, signal?: AbortSignal): Promise<Response> {
    const response = await fetch(`${filesUrl?.replace(/\/$/, '')}/${path}`, { signal })
    if (!response.ok) throw new Error(`The file ${path} could not be loaded (${response.status}).`)
    return response
  }

  return {
    client,
    queries,
    conversations,
    toasts,
    attachedFiles: new AttachedFiles(),
    outbox: new Outbox(),
    /** Reports an action that failed. `what` is a whole sentence. */
    tellError: toasts.tellError,
    /** Says what was done. `what` is a whole sentence. */
    tell: toasts.tell,
    /** Whether there is no server, and a saved page is shown. */
    isOffline: saved !== undefined,
    /** Whether the saved page contains debug data. */
    hasSavedDebug: saved?.debug ?? false,
    /** Whether there are files of byref's own workbench. */
    hasFiles: filesUrl !== undefined,
    loadFile,
    /** Labels that were loaded, by conversation. Labels of messages never change. */
    labels: new Map<string, LabelsInfo>(),
    infoQuery,
    conversationsQuery,
    conversationQuery,
    branchesQuery,
    loadFamily,
    assetQuery,
    versionsQuery,
    debugQuery,
    followConversations,
    forgetConversations,
    noticeSignOut,
  }
}

/** Methods that may fail without a valid token. Their callers handle that. */
const SIGNED_OUT: ReadonlySet<string | symbol> = new Set<keyof Client>([
  'info',
  'openSession',
  'closeSession',
])

/** Returns a client that reports how its requests end. */
function reporting(
  client: Client,
  { onSuccess, onFailure }: { onSuccess(): void; onFailure(error: unknown): void },
): Client {
  // A proxy of the client itself would have to return its own methods if it is frozen.
  const target: Client = Object.create(client)
  return new Proxy(target, {
    get(_, key) {
      const method: unknown = Reflect.get(client, key)
      if (typeof method !== 'function' || SIGNED_OUT.has(key)) return method
      return (...values: unknown[]): unknown => {
        const answer: unknown = Reflect.apply(method, client, values)
        if (answer instanceof Promise) answer.then(onSuccess, onFailure)
        return answer
      }
    },
  })
}

/** Provides the server of the panes inside. */
export const ServerContext = createContext<Server | null>(null)

/** Returns the server that the panes use. */
export function useServer(): Server {
  const server = use(ServerContext)
  if (!server) throw new Error('Put this component inside a <ByrefProvider>.')
  return server
}

/**
 * Returns the pages with a changed conversation at its place, or without a deleted one. The list is in the order of
 * `updatedAt`, newest first, which a new title does not change. A conversation after the loaded pages is left to the
 * next page.
 */
function withChange(
  pages: readonly ConversationsPage[],
  id: string,
  now: ConversationSummary | null,
): ConversationsPage[] {
  const others = pages.map((page) => ({
    ...page,
    conversations: page.conversations.filter((one) => one.id !== id),
  }))
  if (now === null) return others
  const isNotNewer = (one: ConversationSummary): boolean => one.updatedAt <= now.updatedAt
  const found = others.find(({ conversations }) => conversations.some(isNotNewer))
  const isKnown = pages.some(({ conversations }) => conversations.some((one) => one.id === id))
  const last = others.at(-1)
  const page = found ?? (isKnown || last?.next === null ? last : undefined)
  if (page) {
    const place = page.conversations.findIndex(isNotNewer)
    page.conversations.splice(place === -1 ? page.conversations.length : place, 0, now)
  }
  return others
}

/**
 * Returns debug data in the form that is shown, and that addresses point into. A value that is not an object is put
 * under `debug`.
 */
export function debugObject(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : { debug: value }
}
