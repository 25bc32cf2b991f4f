import type { ConversationState, LabelsInfo } from 'byref/client'
import { createContext, type ReactNode, use } from 'react'
import { useConversation, useConversationId } from '../app/conversation-context.tsx'
import { type Server, useServer } from '../app/server.ts'
import { useQuery } from '../app/server-queries.ts'

const NONE: LabelsInfo = { position: 0, messages: {}, assets: {}, data: {} }

/** Provides any labels, such as recorded ones. */
export const LabelsContext = createContext<LabelsInfo>(NONE)

/** Provides the labels of a conversation. If no run had trust on, nothing is requested. */
export function LabelsProvider({ children }: { children: ReactNode }) {
  const server = useServer()
  const conversation = useConversationId()
  const isOn = useConversation(hasTrust)
  const count = useConversation(({ messages, assets }) => messages.length + assets.length)
  const { data } = useQuery({
    queryKey: ['labels', conversation, count],
    queryFn: () => loadLabels(server, conversation as string),
    enabled: conversation !== null && isOn && !server.isOffline,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 1000,
    placeholderData: (before, query) => (query?.queryKey[1] === conversation ? before : undefined),
  })
  return <LabelsContext value={data ?? NONE}>{children}</LabelsContext>
}

/** Returns the labels of everything in the conversation that is untrusted or private. */
export function useLabels(): LabelsInfo {
  return use(LabelsContext)
}

async function loadLabels({ client, labels }: Server, conversation: string): Promise<LabelsInfo> {
  const before = labels.get(conversation)
  const fresh = await client.labels(conversation, before && { after: before.position })
  // A shorter conversation is a new one with the same id.
  const isOther = before !== undefined && fresh.position < before.position
  const all = isOther ? await client.labels(conversation) : fresh
  const merged = isOther ? all : { ...all, messages: { ...before?.messages, ...all.messages } }
  labels.set(conversation, merged)
  return merged
}

function hasTrust({ runs }: ConversationState): boolean {
  return runs.some(({ trust }) => trust !== undefined && trust !== 'off')
}
