import type { Context } from 'hono'
import { ByrefError } from '../core/errors.ts'

/** Localhost and IP addresses. A page that uses DNS rebinding has a host name of its own. */
const LOOPBACK_OR_ADDRESS = /^(localhost|\d+(\.\d+){3}|\[[\da-f:.]+\])(:\d+)?$/i

/** Options of {@link createGuard}. */
export interface GuardOptions {
  /** Host names that requests may use in addition to localhost and IP addresses; `*` for any name, where a proxy checks it. */
  hosts: readonly string[]
  /** Origins of other sites whose pages may send requests, such as `https://app.example`. */
  origins: readonly string[]
}

/**
 * Makes a check that keeps pages of other sites from using the server. It rejects unknown host names (DNS rebinding) and
 * requests that a page of another origin sent (cross-site requests).
 *
 * @throws ByrefError `config_invalid` for a host that is not a host name, and for an origin that no browser sends
 */
export function createGuard({ hosts, origins }: GuardOptions): (c: Context) => void {
  const wrongHost = hosts.find((host) => /[/\s@?#]/.test(host))
  if (wrongHost !== undefined) {
    throw new ByrefError(
      'config_invalid',
      `"${wrongHost}" is not a host name: write it as in app.example, without a scheme and a path (--allow-host, or in code allowedHosts)`,
    )
  }
  const wrong = origins.find((origin) => !isOrigin(origin))
  if (wrong !== undefined) {
    throw new ByrefError(
      'config_invalid',
      `"${wrong}" is not an origin: write scheme and host as in https://app.example, without a path (--allow-origin, or in code allowedOrigins)`,
    )
  }
  const allowed = new Set(hosts.map((host) => host.toLowerCase()))
  const isAllowed = (host: string) =>
    allowed.has('*') ||
    LOOPBACK_OR_ADDRESS.test(host) ||
    allowed.has(host.replace(/:\d+$/, '')) ||
    allowed.has(host)

  return (c) => {
    const host = c.req.header('host')?.toLowerCase() ?? new URL(c.req.url).host
    if (!isAllowed(host)) {
      throw new ByrefError(
        'forbidden',
        `The host "${host}" is not allowed: allow it with --allow-host, or in code with allowedHosts`,
      )
    }
    const origin = c.req.header('origin')
    const isOther = origin !== undefined && hostOf(origin) !== host
    if (isOther && !origins.includes(origin)) {
      throw new ByrefError(
        'forbidden',
        `Requests from pages of ${origin} are not allowed: allow the origin with --allow-origin, or in code with allowedOrigins`,
      )
    }
    if (!origin && c.req.method !== 'GET' && c.req.header('sec-fetch-site') === 'cross-site') {
      throw new ByrefError('forbidden', 'Requests from pages of other sites are not allowed')
    }
  }
}

/** Whether browsers send this as an `Origin`. Pages in a sandbox and local files have the origin `null`. */
function isOrigin(text: string): boolean {
  if (text === 'null') return true
  if (!/^[a-z][a-z\d+.-]*:\/\/[^/?#@\s]+$/.test(text) || !URL.canParse(text)) return false
  const { origin } = new URL(text)
  // Schemes of apps, such as capacitor:, have no origin in the standard of URLs.
  return origin === text || origin === 'null'
}

function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null
}
