import type { MiddlewareHandler } from 'hono'
import { ByrefError } from '../errors.ts'

/** This machine by name, or any machine by number: a page that was rebound to us came under a name of its own. */
const LOOPBACK_OR_NUMBER = /^(localhost|\d+(\.\d+){3}|\[[\da-f:.]+\])(:\d+)?$/i

/**
 * Keeps web pages of other sites from using a server on this machine: a request must name localhost, an IP address or
 * one of `allowedHosts` (DNS rebinding), and one that a page of another origin sent is refused (cross-site requests).
 */
export function guard(allowedHosts: readonly string[]): MiddlewareHandler {
  return async (c, next) => {
    const host = c.req.header('host') ?? new URL(c.req.url).host
    const name = host.replace(/:\d+$/, '')
    if (
      !LOOPBACK_OR_NUMBER.test(host) &&
      !allowedHosts.includes(name) &&
      !allowedHosts.includes(host)
    ) {
      throw new ByrefError(
        'forbidden',
        `This server does not answer as ${host}; name the host by --allow-host, or among allowedHosts`,
      )
    }
    const origin = c.req.header('origin')
    if (origin !== undefined && hostOf(origin) !== host) {
      throw new ByrefError('forbidden', `Requests from pages of ${origin} are not allowed`)
    }
    if (c.req.method !== 'GET' && c.req.header('sec-fetch-site') === 'cross-site') {
      throw new ByrefError('forbidden', 'Requests from pages of other sites are not allowed')
    }
    await next()
    c.header('x-content-type-options', 'nosniff')
    c.header('referrer-policy', 'no-referrer')
  }
}

function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null
}
