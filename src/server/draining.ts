import type { Context } from 'hono'
import { ByrefError } from '../errors.ts'

const STREAM = /^\/api\/(events|conversations\/[^/]+\/stream)$/

/**
 * Answers for a server that is about to stop, which begins nothing new; null for what it answers still. A browser gives up a
 * stream that is refused, so that one ends at once instead and is asked for again, from whoever serves then.
 */
export function drainingAnswer(c: Context): Response | null {
  if (c.req.path === '/healthz') return null
  c.header('connection', 'close')
  if (STREAM.test(c.req.path)) {
    c.header('cache-control', 'no-store')
    return c.body('retry: 1000\n\n', 200, { 'content-type': 'text/event-stream' })
  }
  throw new ByrefError('shutting_down', 'This server is about to stop: ask another, or later')
}
