import { ByrefError } from '../core/errors.ts'
import type { LogRecord } from '../core/events/events.ts'
import { checkLease, checkPosition } from './check-arguments.ts'
import {
  type AppendOptions,
  type Lease,
  LeaseHeldError,
  LogConflictError,
} from './conversation-log.ts'

/** Who runs a conversation, and until when in milliseconds since 1970. */
export interface StoredLease {
  owner: string
  until: number
}

/** What an append is held against; null for a conversation that is not there. */
export interface Standing {
  position: number
  lease: StoredLease | null
}

/** Refuses options that no append can have. @throws ByrefError `bad_request` */
export function checkAppend({ after, lease }: AppendOptions): void {
  if (after !== undefined) checkPosition(after)
  if (lease) checkLease(lease)
}

/**
 * Lets an append pass or throws what refuses it; `missed` reads the records behind a position.
 *
 * @throws LogConflictError, LeaseHeldError; ByrefError `conversation_not_found`
 */
export function admit(
  conversation: string,
  standing: Standing | null,
  options: AppendOptions & { now: number; missed: (after: number) => LogRecord[] },
): void {
  const { after, lease, now, missed } = options
  const position = standing?.position ?? 0
  if (after !== undefined && after < position) {
    throw new LogConflictError(conversation, missed(after))
  }
  if (after !== undefined && after > position) {
    throw new ByrefError(
      'conversation_not_found',
      `There is no conversation "${conversation}" with ${after} records (it has ${position}): read it again`,
    )
  }
  const held = standing?.lease
  if (lease && held && held.owner !== lease.owner && held.until > now) {
    throw new LeaseHeldError(conversation, { owner: held.owner, expiresIn: held.until - now })
  }
}

/** The lease after an append that passed, or after a renewal. */
export function leaseAfter(
  before: StoredLease | null,
  lease: Lease | undefined,
  now: number,
): StoredLease | null {
  if (!lease) return before
  return lease.ms === 0 ? null : { owner: lease.owner, until: now + lease.ms }
}
