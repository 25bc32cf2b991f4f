import type { MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'

/** Lets pages of these origins use the API (CORS). */
export function crossOrigin(origins: readonly string[]): MiddlewareHandler {
  const allow = cors({
    origin: [...origins],
    allowHeaders: [
      ...['authorization', 'content-type', 'last-event-id', 'idempotency-key', 'range'],
      ...['tus-resumable', 'upload-length', 'upload-offset', 'upload-metadata'],
    ],
    exposeHeaders: ['content-range', 'etag', 'x-request-id', 'location', 'upload-offset'],
    maxAge: 600,
  })
  return async (c, next) => {
    const preflight = await allow(c, next)
    const answer = preflight ?? c.res
    // It names the origin alone, instead of what was named before.
    answer.headers.set('vary', 'origin, accept-encoding')
    return preflight
  }
}
