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

/** The conversation that a part of the page is about; a new one has no id and an empty state. */
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

/** Follows the conversation with this id for as long as it is shown; null is one that has not begun. */
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

/** Gives parts that show a conversation any source of one, such as a recorded one. */
export const ConversationSourceProvider = Context

/** The id of the conversation; null while it has not begun. */
export function useConversationId(): string | null {
  return use(Context).id
}

/** Shows its children as much of the conversation as is loaded; others see nothing of it before all of it is. */
export function LoadedSoFar({ children }: { children: ReactNode }) {
  return <SoFar value={true}>{children}</SoFar>
}

/** A part of the conversation's state. The selector must give the same object for the same state. */
export function useConversation<T>(select: (state: ConversationState) => T): T {
  const source = use(Context)
  const soFar = use(SoFar)
  return useSyncExternalStore(source.subscribe, () =>
    select(source.loaded || soFar ? source.getState() : emptyConversation),
  )
}

/** Whether all of the conversation is there. */
export function useLoaded(): boolean {
  const source = use(Context)
  return useSyncExternalStore(source.subscribe, () => source.loaded)
}

/** How the connection stands. */
export function useConnection(): { status: ConversationStatus; error: ApiError | null } {
  const source = use(Context)
  const status = useSyncExternalStore(source.subscribe, () => source.status)
  const error = useSyncExternalStore(source.subscribe, () => source.error)
  return { status, error }
}

function pending(id: string | null): ConversationStatus {
  return id === null ? 'live' : 'connecting'
}
