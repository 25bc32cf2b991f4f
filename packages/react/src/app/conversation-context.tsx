import {
  type ConversationState,
  emptyConversation,
  type LiveConversation,
  type LiveStatus,
} from 'byref/client'
import {
  createContext,
  type ReactNode,
  use,
  useEffect,
  useState,
  useSyncExternalStore,
} from 'react'
import { useServer } from './server.ts'

/** The conversation that a part of the page shows. A new one has no id and an empty state. */
export type ConversationSource = Pick<
  LiveConversation,
  'status' | 'error' | 'loaded' | 'getState' | 'subscribe' | 'reconnect'
> & { id: string | null }

const newConversation: ConversationSource = {
  id: null,
  status: 'live',
  error: null,
  loaded: true,
  getState: () => emptyConversation,
  subscribe: () => () => {},
  reconnect: () => {},
}

/** Provides any source of a conversation, such as a recorded one. */
export const ConversationContext = createContext<ConversationSource>(newConversation)
const SoFar = createContext(false)

/** Follows the conversation with this id while it is shown. Null is a conversation that has not started. */
export function ConversationProvider({ id, children }: { id: string | null; children: ReactNode }) {
  const { conversations } = useServer()
  const [live, setLive] = useState<LiveConversation | null>(() =>
    id === null ? null : conversations.get(id),
  )
  useEffect(() => {
    if (id === null) return
    setLive(conversations.open(id))
    return () => conversations.close(id)
  }, [id, conversations])
  const source =
    live?.id === id ? live : { ...newConversation, id, status: pending(id), loaded: id === null }
  return <ConversationContext value={source}>{children}</ConversationContext>
}

/** Returns the id of the conversation, or null if it has not started. */
export function useConversationId(): string | null {
  return use(ConversationContext).id
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
  const source = use(ConversationContext)
  const soFar = use(SoFar)
  const read = () => select(source.loaded || soFar ? source.getState() : emptyConversation)
  return useSyncExternalStore(source.subscribe, read, read)
}

/** Returns whether the whole conversation is loaded. */
export function useLoaded(): boolean {
  const source = use(ConversationContext)
  const read = () => source.loaded
  return useSyncExternalStore(source.subscribe, read, read)
}

/** Returns the status of the connection, and the function that tries again after the server refused it. */
export function useConnection(): Pick<ConversationSource, 'status' | 'error' | 'reconnect'> {
  const source = use(ConversationContext)
  const readStatus = () => source.status
  const readError = () => source.error
  const status = useSyncExternalStore(source.subscribe, readStatus, readStatus)
  const error = useSyncExternalStore(source.subscribe, readError, readError)
  return { status, error, reconnect: source.reconnect }
}

function pending(id: string | null): LiveStatus {
  return id === null ? 'live' : 'connecting'
}
