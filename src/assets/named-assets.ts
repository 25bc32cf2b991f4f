import { checkOptions, is, type OptionTable } from '../core/check-options.ts'
import { isPlainObject } from '../core/json/json.ts'
import { isAssetId, parseAssetRef } from '../core/refs/asset-ref.ts'

/** An id that byref made, anywhere in a text. */
const ID = /(?<![0-9a-z])[0-9a-hjkmnp-tv-z]{27}(?![0-9a-z])/g

/** Reference objects and `[Attached …]` markers in text, also where JSON has escaped their quotes. */
const ID_FIELD = /asset_id\\*"?\s*[:=]\s*\\*"([^"\\]{1,200})/g
const URL_IN_TEXT = /asset:\/\/[^\s"'<>|`\\]+/gi

/** The length of the shortest reference. */
const SHORTEST = 'asset://x'.length
const CLOSERS = /[.,;:!?)\]}*_~]+$/

/** Options of {@link namedAssets}. */
export interface NamedAssetsOptions {
  /** Whether text that looks like an id of byref counts as one, also inside longer text. Default: true. */
  bareIds?: boolean
  /** Ids of the application's own choice that texts may consist of. Default: none. */
  ownIds?: ReadonlySet<string>
}

export const OWN_IDS = is.having<ReadonlySet<string>>('a Set of ids', 'has')
const OPTIONS: OptionTable<NamedAssetsOptions> = { bareIds: is.boolean, ownIds: OWN_IDS }

/**
 * Returns the ids of the assets that a value names: messages, calls, results, anything from a log. It finds references
 * in any form, at any depth, also inside text, and bare ids. It prefers too many ids to too few, because sweeps depend
 * on it. Each id occurs once; never throws.
 */
export function namedAssets(value: unknown, options?: NamedAssetsOptions): Set<string> {
  const { bareIds = true, ownIds } = checkOptions('namedAssets', options, OPTIONS)
  const ids = new Set<string>()
  const seen = new Set<object>()
  const open: unknown[] = [value]
  while (open.length > 0) {
    const item = open.pop()
    if (typeof item === 'string') {
      addFromText(item, ids)
      if (bareIds) for (const [id] of item.matchAll(ID)) ids.add(id)
      if (ownIds?.has(item)) ids.add(item)
    }
    if (typeof item === 'object' && item !== null && !seen.has(item)) {
      seen.add(item)
      const { asset_id: id } = item as { asset_id?: unknown }
      if (typeof id === 'string' && isAssetId(id)) ids.add(id)
      for (const one of partsOf(item)) open.push(one)
    }
  }
  return ids
}

function* partsOf(item: object): Generator<unknown> {
  if (item instanceof Map) {
    yield* item.keys()
    yield* item.values()
  } else if (item instanceof Set) yield* item
  else if (Array.isArray(item)) yield* item
  else if (isPlainObject(item)) {
    for (const [key, value] of Object.entries(item)) {
      if (key.length >= SHORTEST) yield key
      yield value
    }
  }
}

function addFromText(written: string, ids: Set<string>): void {
  for (const [, id = ''] of written.matchAll(ID_FIELD)) if (isAssetId(id)) ids.add(id)
  // Some writers of JSON escape slashes.
  const text = written.includes('\\/') ? written.replaceAll('\\/', '/') : written
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
  // A path that looks like namespace and id may also be an id and a missing field.
  if (parts.namespace !== undefined) ids.add(parts.namespace)
}
