import { useConversationId } from './conversation-context.tsx'
import { useServer } from './server.ts'
import { useQuery } from './server-queries.ts'

/**
 * Returns whether the server has the agent of a conversation, so that messages can be sent and conversations continued.
 * A sub-agent may only answer calls of other agents. A single agent continues every conversation.
 */
export function useServesAgent(agent: string | null | undefined): boolean {
  const { infoQuery } = useServer()
  const { data: info } = useQuery(infoQuery)
  if (!info || info.agents.length < 2 || !agent) return true
  return info.agents.some(({ name }) => name === agent)
}

/** Returns the agent of this conversation if the server does not have it, and null otherwise. */
export function useMissingAgent(): string | null {
  const { conversationQuery } = useServer()
  const id = useConversationId()
  // The thread has loaded it.
  const { data } = useQuery({ ...conversationQuery(id ?? ''), enabled: false })
  const agent = data?.agent ?? null
  return useServesAgent(agent) ? null : agent
}
