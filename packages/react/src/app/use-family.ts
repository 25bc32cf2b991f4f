import type { ConversationSummary } from 'byref/client'
import { rootOf } from './branches.ts'
import { useServer } from './server.ts'
import { useQuery } from './server-queries.ts'

/** Returns the id that a conversation has in common with its versions. Null until its summary is loaded. */
export function useRoot(id: string | null): string | null {
  const { conversationQuery } = useServer()
  const { data } = useQuery({ ...conversationQuery(id ?? ''), enabled: id !== null })
  return data ? rootOf(data) : null
}

/** Returns a conversation with its versions. Undefined until they are loaded. */
export function useFamily(id: string | null): ConversationSummary[] | undefined {
  const { branchesQuery } = useServer()
  const root = useRoot(id)
  return useQuery({ ...branchesQuery(root ?? ''), enabled: root !== null }).data
}
