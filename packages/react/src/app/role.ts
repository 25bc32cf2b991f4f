import type { Role } from 'byref/client'
import { useServer } from './server.ts'
import { useQuery } from './server-queries.ts'

const RANK: Record<Role, number> = { reader: 0, member: 1, owner: 2 }

/**
 * Returns whether the user has a role. Actions without permission are not shown, and the server rejects them, too.
 * Before the role is known, a user may write but not delete.
 */
export function useMay(needed: Role): boolean {
  const { infoQuery } = useServer()
  const { data } = useQuery(infoQuery)
  return RANK[data?.caller?.role ?? 'member'] >= RANK[needed]
}

/** Returns what to say of a call that waits. A reader cannot answer it. */
export function useWaitingText(): string {
  return useMay('member') ? 'needs your approval' : 'waits for an approval'
}

/** Returns whether the user may see debug data. */
export function useSeesDebug(): boolean {
  const { hasSavedDebug } = useServer()
  return useMay('member') || hasSavedDebug
}
