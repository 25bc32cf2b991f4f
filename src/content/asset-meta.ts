import { ASSET_FIELDS } from '../refs/asset-id.ts'
import type { Asset, AssetMeta } from './asset.ts'
import { cutMark, cutText } from './cut.ts'
import { className, isPlainObject, type JsonValue, putKey } from './json.ts'

/** Bounds of a meta. What is cut says its real size: see `cut.ts`. */
export interface MetaOptions {
  /** Characters of one text. Default 2,000. */
  text?: number
  /** Items of one list. Default 100. */
  items?: number
}

interface Frame {
  source: object
  out: Record<string, JsonValue> | JsonValue[]
  keys: string[] | null
  size: number
  next: number
}

/**
 * The meta of an asset (structured-assets.md, "Asset Meta"; spec A2): the fields in the order of the reference, those
 * without a value left out. Reads no body and runs no getter.
 */
export function assetMeta(asset: Asset, options: MetaOptions = {}): AssetMeta {
  const fields = asset as unknown as Record<string, unknown>
  const ordered: Record<string, unknown> = {}
  for (const key of ASSET_FIELDS) {
    if (Object.hasOwn(fields, key)) ordered[key] = fields[key]
  }
  return metaOf(ordered, options) as unknown as AssetMeta
}

/**
 * The meta of any value. Objects and lists stay; text, finite numbers and booleans are kept; null and undefined are
 * dropped from objects and `<class 'NoneType'>` in lists; URL, Date, bigint, NaN and the infinities become text; all
 * else is `<class 'NAME'>` by its constructor. A cycle is `<cycle>`. Any depth.
 */
export function metaOf(value: unknown, { text = 2000, items = 100 }: MetaOptions = {}): JsonValue {
  const stack: Frame[] = []
  const open = new Set<object>()

  const enter = (item: unknown): JsonValue => {
    if (typeof item === 'string') return cutText(item, text)
    const list = Array.isArray(item)
    if (!list && !isPlainObject(item)) return metaOfScalar(item)
    if (open.has(item)) return '<cycle>'
    open.add(item)
    const keys = list ? null : Object.keys(item)
    const out = list ? [] : {}
    const size = keys ? keys.length : Math.min((item as unknown[]).length, items)
    stack.push({ source: item, out, keys, size, next: 0 })
    return out
  }

  const result = enter(value)
  for (let frame = stack.at(-1); frame; frame = stack.at(-1)) {
    const { source, out, keys } = frame
    if (frame.next === frame.size) {
      const real = keys ? frame.size : (source as unknown[]).length
      if (real > frame.size) (out as JsonValue[]).push(cutMark(real, 'items'))
      open.delete(source)
      stack.pop()
    } else if (keys) {
      const key = keys[frame.next++] as string
      const item = ownValue(source, key)
      if (item !== null && item !== undefined) {
        putKey(out as Record<string, JsonValue>, key, enter(item))
      }
    } else {
      const item = ownValue(source, frame.next++)
      ;(out as JsonValue[]).push(enter(item))
    }
  }
  return result
}

/** The type string of a value: `<class 'Uint8Array'>`. Null and undefined are `NoneType`, as in the reference. */
export function typeString(value: unknown): string {
  return `<class '${value === null || value === undefined ? 'NoneType' : className(value)}'>`
}

function metaOfScalar(value: unknown): JsonValue {
  if (typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (typeof value === 'bigint') return String(value)
  if (value instanceof URL) return value.href
  if (value instanceof Date)
    return Number.isNaN(value.getTime()) ? String(value) : value.toISOString()
  return typeString(value)
}

/** A getter is not run: its value is the type string of Python's. */
function ownValue(source: object, key: string | number): unknown {
  const field = Object.getOwnPropertyDescriptor(source, key)
  return field && (field.get || field.set) ? "<class 'property'>" : field?.value
}
