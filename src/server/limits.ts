import type { MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { ByrefError } from '../errors.ts'
import type { Caller } from './caller.ts'
import type { Route } from './route.ts'

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
  /** Refuses bodies of JSON above `maxSize` bytes, while they are read. */
  body(maxSize: number, routes: readonly Route[]): MiddlewareHandler
  /** Refuses addresses that are too long to be any of ours. */
  headers: MiddlewareHandler
}

/** Characters of a path and its query. */
const MAX_URL = 16 * 1024

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
    body(maxSize, routes) {
      const limit = bodyLimit({
        maxSize,
        onError() {
          throw new ByrefError(
            'body_too_large',
            `A body of JSON has at most ${maxSize} bytes; upload files as assets`,
          )
        },
      })
      const raw = routes
        .filter(({ takes }) => takes)
        .map(({ path }) => new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`))
      return (c, next) => {
        const isRaw =
          c.req.path.startsWith('/api/uploads') || raw.some((path) => path.test(c.req.path))
        return isRaw ? next() : limit(c, next)
      }
    },
    headers(c, next) {
      if (c.req.url.length <= MAX_URL) return next()
      throw new ByrefError('bad_request', `An address has at most ${MAX_URL} characters`)
    },
  }
}
