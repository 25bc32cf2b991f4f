import type { z } from 'zod'
import { ByrefError } from '../core/errors.ts'
import type { role } from '../wire/server-info.ts'

/** What somebody may do: read; read, write and decide; also delete, import, and see debug data. */
export type Role = z.infer<typeof role>

/** Who asks. */
export interface Caller {
  /** For limits and logs; never a secret. */
  subject: string
  /** Whose conversations and assets these are; null for those of no namespace. */
  namespace: string | null
  role: Role
}

const RANK: Record<Role, number> = { reader: 0, member: 1, owner: 2 }

/** Throws `forbidden` for somebody who may not do what this role may. */
export function requireRole(caller: Caller, needed: Role): void {
  if (RANK[caller.role] >= RANK[needed]) return
  throw new ByrefError(
    'forbidden',
    `This needs the role ${needed}; the token has the role ${caller.role}`,
  )
}

/** Whether somebody may do what this role may. */
export function mayAs(caller: Caller, needed: Role): boolean {
  return RANK[caller.role] >= RANK[needed]
}
