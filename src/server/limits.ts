import { RateLimiterMemory } from 'rate-limiter-flexible'
import { ByrefError } from '../core/errors.ts'
import type { Caller } from './caller.ts'

/** Limits of a server. */
export interface ServerLimits {
  /** Requests of one token in a minute; default 1,200, and none where no token is needed. */
  requestsPerMinute?: number
  /** Bytes of one file that is uploaded in pieces. Default: 5 GiB. Of others the agent's own `limits.bodyBytes` hold. */
  uploadBytes?: number
}

/** The limits of a server, as it applies them. */
export interface Limits {
  /** Throws `rate_limited` for a caller who asks too often. */
  request(caller: Caller): Promise<void>
}

/** Makes the limits. */
export function createLimits(options: ServerLimits = {}, needsToken: boolean): Limits {
  const points = options.requestsPerMinute ?? (needsToken ? 1200 : undefined)
  const limiter = points === undefined ? null : new RateLimiterMemory({ points, duration: 60 })
  return {
    async request({ subject, namespace }) {
      if (!limiter) return
      try {
        await limiter.consume(`${namespace ?? ''}\n${subject}`)
      } catch (refused) {
        if (refused instanceof Error) throw refused
        throw new ByrefError(
          'rate_limited',
          `More than ${points} requests in a minute: wait a little`,
        )
      }
    },
  }
}
