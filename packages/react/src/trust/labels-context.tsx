import { useQuery } from '@tanstack/react-query'
import type { ConversationState, LabelsInfo } from 'byref/client'
import { createContext, type ReactNode, use } from 'react'
import { client, isOffline } from '../app/client.ts'
import { useConversation, useConversationId } from '../app/conversation-context.tsx'

const NONE: LabelsInfo = { position: 0, messages: {}, assets: {}, data: {} }

const Context = createContext<LabelsInfo>(NONE)

/** Labels of conversations that were loaded. Labels of messages never change. */
const known = new Map<string, LabelsInfo>()

/** Provides the labels of a conversation. If no run had trust on, nothing is requested. */
export function LabelsProvider({ children }: { children: ReactNode }) {
  const conversation = useConversationId()
  const isOn = useConversation(hasTrust)
  const count = useConversation(({ messages, assets }) => messages.length + assets.length)
  const { data } = useQuery({
    queryKey: ['labels', conversation, count],
    queryFn: () => loadLabels(conversation as string),
    enabled: conversation !== null && isOn && !isOffline,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 1000,
    placeholderData: (before, query) => (query?.queryKey[1] === conversation ? before : undefined),
  })
  return <Context value={data ?? NONE}>{children}</Context>
}

/** Provides any labels, such as recorded ones. */
export const LabelsSourceProvider = Context

/** Returns the labels of everything in the conversation that is untrusted or private. */
export function useLabels(): LabelsInfo {
  return use(Context)
}

async function loadLabels(conversation: string): Promise<LabelsInfo> {
  const before = known.get(conversation)
  const fresh = await client.labels(conversation, before && { after: before.position })
  // A shorter conversation is a new one with the same id.
  const isOther = before !== undefined && fresh.position < before.position
  const all = isOther ? await client.labels(conversation) : fresh
  const merged = isOther ? all : { ...all, messages: { ...before?.messages, ...all.messages } }
  known.set(conversation, merged)
  return merged
}

function hasTrust({ runs }: ConversationState): boolean {
  return runs.some(({ trust }) => trust !== undefined && trust !== 'off')
}
