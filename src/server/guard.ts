import type { Context } from 'hono'
import { ByrefError } from '../core/errors.ts'

/** This machine by name, or any machine by number: a page that was rebound to us came under a name of its own. */
const LOOPBACK_OR_NUMBER = /^(localhost|\d+(\.\d+){3}|\[[\da-f:.]+\])(:\d+)?$/i

/** Whom a server answers. */
export interface GuardOptions {
  /** Names that requests may use beside localhost and addresses; `*` for any, where a proxy checks them. */
  hosts: readonly string[]
  /** Origins of other sites whose pages may ask, such as `https://app.example`; default none. */
  origins: readonly string[]
}

/**
 * A check that keeps web pages of other sites from using a server: a request must name localhost, an IP address or one of `hosts` (DNS
 * rebinding), and one that a page of another origin sent is refused unless it is one of `origins` (cross-site requests).
 */
export function createGuard({ hosts, origins }: GuardOptions): (c: Context) => void {
  const isAllowed = (host: string) =>
    hosts.includes('*') ||
    LOOPBACK_OR_NUMBER.test(host) ||
    hosts.includes(host.replace(/:\d+$/, '')) ||
    hosts.includes(host)

  return (c) => {
    const host = c.req.header('host') ?? new URL(c.req.url).host
    if (!isAllowed(host)) {
      throw new ByrefError(
        'forbidden',
        `This server does not answer as ${host}; name the host by --allow-host, or among allowedHosts`,
      )
    }
    const origin = c.req.header('origin')
    const isOther = origin !== undefined && hostOf(origin) !== host
    if (isOther && !origins.includes(origin)) {
      throw new ByrefError('forbidden', `Requests from pages of ${origin} are not allowed`)
    }
    if (!origin && c.req.method !== 'GET' && c.req.header('sec-fetch-site') === 'cross-site') {
      throw new ByrefError('forbidden', 'Requests from pages of other sites are not allowed')
    }
  }
}

function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null
}
