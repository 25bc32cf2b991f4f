import { checkOptions, is } from '../check-options.ts'
import { Branch, copyTree } from '../json/copy-json.ts'
import { cutMark, cutText, readCutMark, shownItems } from '../json/cut.ts'
import { className, isPlainObject, type JsonValue } from '../json/json.ts'
import { ASSET_FIELDS } from '../refs/asset-ref.ts'

/**
 * A record that can hold anything: bytes, text, JSON with bytes at its leaves, a live object. It never changes
 * once saved.
 */
export interface Asset {
  /** The application's own classification of assets. */
  asset_type?: string
  asset_id: string
  asset_name?: string
  description?: string
  /** A MIME type, `command`, `asset_ref`, `data`, or a type string such as `<class 'dict'>`. */
  content_type: string
  content: unknown
}

/** The asset with every value that JSON cannot represent replaced by its type string. */
export interface AssetMeta extends Asset {
  content: JsonValue
}

/** Limits of a meta. Text, lists and objects that are cut state their full size: see `cut.ts`. */
export interface MetaOptions {
  /** Maximum characters of one text. Default 2,000. */
  text?: number
  /** Maximum items of one list. Default 100. */
  items?: number
}

/** Maximum keys of one object in a meta. */
const MAX_KEYS = 1000

/**
 * Returns the meta of an asset: its known fields in a fixed order, without missing ones. Reads no body and
 * calls no getter.
 */
export function assetMeta(asset: Asset, options?: MetaOptions): AssetMeta {
  checkOptions('assetMeta', options, { text: is.wholeNumber, items: is.wholeNumber })
  const fields = ASSET_FIELDS.map((key) => [key, asset[key as keyof Asset]])
  return metaOf(Object.fromEntries(fields), options) as JsonValue & AssetMeta
}

/**
 * Returns the meta of any value. Objects, lists, text, finite numbers and booleans are kept. Null and
 * undefined are dropped from objects, and become `<class 'NoneType'>` in lists. URL, Date, bigint, NaN and the
 * infinities become text. Any other value becomes `<class 'NAME'>` with the name of its constructor. A cycle
 * becomes `<cycle>`. Values may be nested to any depth.
 */
export function metaOf(root: unknown, { text = 2000, items = 100 }: MetaOptions = {}): JsonValue {
  return copyTree(root, (value, open, sources) => {
    if (value === null || value === undefined) {
      // In a list and at the root, it is kept as its type.
      return Array.isArray(open.at(-1)?.out ?? []) ? typeString(value) : undefined
    }
    if (typeof value === 'string') {
      return readCutMark(value, 'items') === null ? cutText(value, text) : value
    }
    const isList = Array.isArray(value)
    if (!isList && !isPlainObject(value)) return metaOfScalar(value)
    if (sources.has(value)) return '<cycle>'
    return new Branch(value, isList, isList ? cutItems(value, items).entries() : ownEntries(value))
  })
}

/**
 * Returns the type string of a value, such as `<class 'Uint8Array'>`. Null and undefined give `<class
 * 'NoneType'>`.
 */
export function typeString(value: unknown): string {
  return `<class '${value === null || value === undefined ? 'NoneType' : className(value)}'>`
}

function metaOfScalar(value: unknown): JsonValue {
  if (typeof value === 'boolean' || Number.isFinite(value)) return value as JsonValue
  if (value instanceof Date) return value.toJSON() ?? String(value)
  const isText = typeof value === 'number' || typeof value === 'bigint' || value instanceof URL
  return isText ? String(value) : typeString(value)
}

function cutItems<T>(list: readonly T[], max: number): readonly (T | string)[] {
  const { items, length } = shownItems(list)
  return items.length > max ? [...items.slice(0, max), cutMark(length, 'items')] : list
}

/**
 * Yields the first entries of an object. If there are more, the last key is the mark of the cut. Does not call getters:
 * it yields the type string of a Python property instead.
 */
function* ownEntries(source: object): Iterable<[string, unknown]> {
  for (const key of cutItems(Object.keys(source), MAX_KEYS)) {
    const field = Object.getOwnPropertyDescriptor(source, key) ?? { value: '…' }
    yield [key, 'value' in field ? field.value : "<class 'property'>"]
  }
}
