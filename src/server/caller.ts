import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import type { z } from 'zod'
import { ByrefError } from '../core/errors.ts'
import { scopedKey } from '../log/conversation-log.ts'
import type { role } from '../wire/server-info.ts'

/** Readers read. Members also write and approve calls. Owners also delete, import and see debug data in exports. */
export type Role = z.infer<typeof role>

/** Who sends a request. */
export interface Caller {
  /** For limits and logs; never a secret. */
  subject: string
  /** The namespace of the caller's conversations and assets; null for those without a namespace. */
  namespace: string | null
  role: Role
  /** When the token expires, in milliseconds since 1970. Event streams end then. Default: never. */
  expiresAt?: number
}

const RANK: Record<Role, number> = { reader: 0, member: 1, owner: 2 }

/** Returns whether the caller's role includes the permissions of another role. */
export function hasRole(caller: Caller, needed: Role): boolean {
  return RANK[caller.role] >= RANK[needed]
}

/** @throws ByrefError `forbidden` if the caller's role does not include the needed one */
export function requireRole(caller: Caller, needed: Role): void {
  if (hasRole(caller, needed)) return
  throw new ByrefError(
    'forbidden',
    `This request needs the role ${needed}, and the token has the role ${caller.role}`,
  )
}

/** Thrown if a caller has sent too many requests. */
export class RateLimitedError extends ByrefError {
  /** When the caller may send again, in seconds from now. */
  readonly seconds: number

  constructor(perMinute: number, seconds: number) {
    super('rate_limited', `More than ${perMinute} requests in one minute: wait ${seconds} seconds`)
    this.seconds = seconds
  }
}

/**
 * Counts the requests of each caller. Without a limit, every request passes.
 *
 * @returns A check that throws ByrefError `rate_limited` for a caller who sends too many requests
 */
export function createRateLimit(perMinute: number | null): (caller: Caller) => Promise<void> {
  if (perMinute === null) return async () => {}
  const limiter = new RateLimiterMemory({ points: perMinute, duration: 60 })
  return async ({ subject, namespace }) => {
    try {
      await limiter.consume(scopedKey(namespace, subject))
    } catch (refused) {
      if (refused instanceof Error) throw refused
      const seconds = Math.ceil((refused as RateLimiterRes).msBeforeNext / 1000)
      throw new RateLimitedError(perMinute, seconds)
    }
  }
}
