import { parseAssetRef } from '../refs/asset-ref.ts'

/** An id as byref makes them, wherever it stands in a text. */
const ID = /(?<![0-9a-z])[0-9a-hjkmnp-tv-z]{32}(?![0-9a-z])/g
const URL_IN_TEXT = /asset:\/\/[^\s"'<>|`\\]+/gi
const CLOSERS = /[.,;:!?)\]}*_~]+$/

/**
 * Ids of the assets that a value names: messages, calls, results, anything from a log. Generous, as a mark for a sweep
 * must be: references in any form, at any depth, also inside text, and whatever looks like an id. Each id once.
 */
export function namedAssets(value: unknown): Set<string> {
  const ids = new Set<string>()
  const seen = new Set<object>()
  const open: unknown[] = [value]
  while (open.length > 0) {
    const item = open.pop()
    if (typeof item === 'string') addFromText(item, ids)
    else if (typeof item === 'object' && item !== null && !seen.has(item)) {
      seen.add(item)
      const { asset_id: id } = item as { asset_id?: unknown }
      if (typeof id === 'string') ids.add(id)
      if (item instanceof Map) open.push(...item.keys(), ...item.values())
      else if (item instanceof Set) open.push(...item)
      else if (!ArrayBuffer.isView(item)) for (const one of Object.values(item)) open.push(one)
    }
  }
  return ids
}

function addFromText(text: string, ids: Set<string>): void {
  addUrl(text, ids)
  for (const [id] of text.matchAll(ID)) ids.add(id)
  if (!/asset:\/\//i.test(text)) return
  for (const [url] of text.matchAll(URL_IN_TEXT)) {
    addUrl(url, ids)
    addUrl(url.replace(CLOSERS, ''), ids)
  }
}

function addUrl(url: string, ids: Set<string>): void {
  const parts = parseAssetRef(url)
  if (!parts) return
  ids.add(parts.id)
  // A path that reads as namespace and id may be an id and a field that does not exist.
  if (parts.namespace !== undefined) ids.add(parts.namespace)
}
