import { isPlainObject } from '../content/json.ts'
import { parseAssetRef } from '../refs/asset-ref.ts'

/** An id as byref makes them, wherever it stands in a text. */
const ID = /(?<![0-9a-z])[0-9a-hjkmnp-tv-z]{32}(?![0-9a-z])/g
const URL_IN_TEXT = /asset:\/\/[^\s"'<>|`\\]+/gi
const CLOSERS = /[.,;:!?)\]}*_~]+$/

/**
 * Ids of the assets that a value names: messages, calls, results, anything from a log. Generous, as a mark for a sweep
 * must be: references in any form, at any depth, also inside text, and, unless told otherwise, whatever looks like an
 * id. Each id once.
 */
export function namedAssets(value: unknown, options: { bareIds?: boolean } = {}): Set<string> {
  const { bareIds = true } = options
  const ids = new Set<string>()
  const seen = new Set<object>()
  const open: unknown[] = [value]
  while (open.length > 0) {
    const item = open.pop()
    if (typeof item === 'string') {
      addFromText(item, ids)
      if (bareIds) for (const [id] of item.matchAll(ID)) ids.add(id)
    }
    if (typeof item === 'object' && item !== null && !seen.has(item)) {
      seen.add(item)
      const { asset_id: id } = item as { asset_id?: unknown }
      if (typeof id === 'string') ids.add(id)
      if (item instanceof Map) open.push(...item.keys(), ...item.values())
      else if (item instanceof Set) open.push(...item)
      else if (Array.isArray(item) || isPlainObject(item)) {
        for (const one of Object.values(item)) open.push(one)
      }
    }
  }
  return ids
}

function addFromText(text: string, ids: Set<string>): void {
  if (!/asset:\/\//i.test(text)) return
  addUrl(text, ids)
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
