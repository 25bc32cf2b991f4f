import {
  type ApiError,
  type ConversationState,
  type ConversationStatus,
  emptyConversation,
  type LiveConversation,
} from 'byref/client'
import {
  createContext,
  type ReactNode,
  use,
  useEffect,
  useState,
  useSyncExternalStore,
} from 'react'
import { client } from './client.ts'
import { firstConversation, takeFirstConversation } from './first-conversation.ts'

/** The conversation that a part of the page shows. A new one has no id and an empty state. */
export type ConversationSource = Pick<
  LiveConversation,
  'status' | 'error' | 'loaded' | 'getState' | 'subscribe'
> & { id: string | null }

const newConversation: ConversationSource = {
  id: null,
  status: 'live',
  error: null,
  loaded: true,
  getState: () => emptyConversation,
  subscribe: () => () => {},
}

const Context = createContext<ConversationSource>(newConversation)
const SoFar = createContext(false)

/** Follows the conversation with this id while it is shown. Null is a conversation that has not started. */
export function ConversationProvider({ id, children }: { id: string | null; children: ReactNode }) {
  const [live, setLive] = useState<LiveConversation | null>(() => firstConversation(id))
  useEffect(() => {
    if (id === null) return
    const opened = takeFirstConversation(id) ?? client.conversation(id)
    setLive(opened)
    return () => opened.close()
  }, [id])
  const source =
    live?.id === id ? live : { ...newConversation, id, status: pending(id), loaded: id === null }
  return <Context value={source}>{children}</Context>
}

/** Provides any source of a conversation, such as a recorded one. */
export const ConversationSourceProvider = Context

/** Returns the id of the conversation, or null if it has not started. */
export function useConversationId(): string | null {
  return use(Context).id
}

/**
 * Gives its children the part of the conversation that is loaded. Other components see nothing until everything is
 * loaded.
 */
export function LoadedSoFar({ children }: { children: ReactNode }) {
  return <SoFar value={true}>{children}</SoFar>
}

/** Returns a part of the conversation's state. The selector must return the same object for the same state. */
export function useConversation<T>(select: (state: ConversationState) => T): T {
  const source = use(Context)
  const soFar = use(SoFar)
  return useSyncExternalStore(source.subscribe, () =>
    select(source.loaded || soFar ? source.getState() : emptyConversation),
  )
}

/** Returns whether the whole conversation is loaded. */
export function useLoaded(): boolean {
  const source = use(Context)
  return useSyncExternalStore(source.subscribe, () => source.loaded)
}

/** Returns the status of the connection. */
export function useConnection(): { status: ConversationStatus; error: ApiError | null } {
  const source = use(Context)
  const status = useSyncExternalStore(source.subscribe, () => source.status)
  const error = useSyncExternalStore(source.subscribe, () => source.error)
  return { status, error }
}

function pending(id: string | null): ConversationStatus {
  return id === null ? 'live' : 'connecting'
}
