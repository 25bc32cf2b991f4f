/** The target of a link in a message or a text: in the app, outside, or rejected with a reason. */
export type Target =
  | { type: 'app'; path: string }
  | { type: 'external'; url: string }
  | { type: 'rejected'; reason: string }

/** Classifies a link. Only paths of this app and http(s) addresses are links. */
export function readHref(
  href: string,
  origin: string = globalThis.location?.origin ?? 'http://localhost',
): Target {
  const text = href.trim()
  if (text.startsWith('/') && !/^\/[/\\]/.test(text)) {
    const url = URL.parse(text, origin)
    if (url?.origin === origin) return { type: 'app', path: url.pathname + url.search + url.hash }
  }
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null
  if (!url)
    return { type: 'rejected', reason: 'Only paths of this app and http(s) addresses are links.' }
  if (url.origin === origin) return { type: 'app', path: url.pathname + url.search + url.hash }
  return { type: 'external', url: url.href }
}
