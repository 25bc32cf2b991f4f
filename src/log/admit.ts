import { ByrefError } from '../core/errors.ts'
import type { LogRecord } from '../core/events/events.ts'
import {
  type AppendOptions,
  type Lease,
  LeaseHeldError,
  LogConflictError,
} from './conversation-log.ts'

/** The owner of a lease, and its end in milliseconds since 1970. */
export interface StoredLease {
  owner: string
  until: number
}

/** The state that an append is checked against. */
export interface Standing {
  position: number
  lease: StoredLease | null
}

/**
 * Throws if an append must be refused; `missed` reads the records after a position. `status` is null for a conversation that
 * does not exist.
 *
 * @throws LogConflictError, LeaseHeldError; ByrefError `conversation_not_found`
 */
export function admit(
  conversation: string,
  status: Standing | null,
  options: AppendOptions & { now: number; missed: (after: number) => LogRecord[] },
): void {
  const { after, lease, now, missed } = options
  const position = status?.position ?? 0
  if (after !== undefined && after < position) {
    throw new LogConflictError(conversation, missed(after))
  }
  if (after !== undefined && after > position) {
    throw new ByrefError(
      'conversation_not_found',
      `The conversation "${conversation}" has ${position} records, not ${after}: read it again`,
    )
  }
  const held = status?.lease
  if (lease && held && held.owner !== lease.owner && held.until > now) {
    throw new LeaseHeldError(conversation, { owner: held.owner, expiresIn: held.until - now })
  }
}

/** Returns the lease after an append or a renewal. */
export function leaseAfter(
  before: StoredLease | null,
  lease: Lease | undefined,
  now: number,
): StoredLease | null {
  if (!lease) return before
  return lease.ms === 0 ? null : { owner: lease.owner, until: now + lease.ms }
}
