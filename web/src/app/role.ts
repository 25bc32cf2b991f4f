import { useQuery } from '@tanstack/react-query'
import type { Role } from 'byref/client'
import { hasSavedDebug } from './api.ts'
import { infoQuery } from './client.ts'

const RANK: Record<Role, number> = { reader: 0, member: 1, owner: 2 }

/**
 * Whether who looks at the page may do what needs this role. What they may not is not there; the server refuses it too. Before
 * it is known, a person may write and not delete.
 */
export function useMay(needed: Role): boolean {
  const { data } = useQuery(infoQuery)
  return RANK[data?.caller?.role ?? 'member'] >= RANK[needed]
}

/** Whether who looks at the page sees debug data. */
export function useSeesDebug(): boolean {
  return useMay('member') || hasSavedDebug
}
