import {
  type AssetShape,
  carriesRef,
  copiedKeys,
  type Fields,
  mayHoldBody,
  shapeOf,
} from './asset-shapes.ts'
import { binaryBody, type FoundBody } from './found-body.ts'
import { type Contents, contentsOf, ListTooLongError, readableContents } from './value-tree.ts'

/** Numbers of a typed array that become a list; more of them are bytes. */
const MAX_LISTED = 4096

/** A typed array of numbers: a list of them says the same, and JSON can carry it. */
export interface FoundNumbers {
  type: 'numbers'
  list: readonly (number | bigint)[]
}

/** What an object is to the walk. */
export type Seen =
  | SeenContents
  | FoundNumbers
  | { type: 'body'; body: FoundBody }
  | { type: 'text'; text: string }

/** A container, or an object that stands for a body. */
export interface SeenContents {
  type: 'contents'
  contents: Contents
  shape: ShapeFound | null
}

/** A shape, with what stays beside its body. */
export type ShapeFound = AssetShape & { rest: Fields }

/** Keys of a reference, or of the error in its place: ours win. */
const RESULT_KEYS: ReadonlySet<string> = new Set(['assetRef', 'mimeType', 'kind', 'assetError'])

/** What a field gave that throws when it is read. */
class Unreadable {
  readonly error: unknown

  constructor(error: unknown) {
    this.error = error
  }
}

/**
 * What an object is that stands under `key`; null for what stays as it is. Reads it, by its `toJSON` where it has one, and
 * never throws: what does is a body that cannot be saved.
 *
 * @throws ListTooLongError
 */
export function lookAt(item: object, key: unknown): Seen | null {
  try {
    return see(item, key)
  } catch (error) {
    if (error instanceof ListTooLongError) throw error
    return { type: 'body', body: { type: 'unreadable', error } }
  }
}

function see(item: object, key: unknown): Seen | null {
  if (!isContainer(item)) {
    const seen = seeBinary(item)
    if (seen || item instanceof Date) return seen
  }
  const { toJSON } = item as { toJSON?: unknown }
  if (typeof toJSON !== 'function') return seeContents(item, key)
  const json = jsonOf(item, key)
  if (typeof json === 'string') return { type: 'text', text: json }
  return isObject(json) ? (seeBinary(json) ?? seeContents(json, key)) : null
}

/** Null where `toJSON` throws: whoever makes JSON of the value hears of it. */
function jsonOf(item: object, key: unknown): unknown {
  try {
    return (item as { toJSON(key: string): unknown }).toJSON(String(key))
  } catch {
    return null
  }
}

function seeBinary(item: object): Seen | null {
  if (item instanceof Unreadable) {
    return { type: 'body', body: { type: 'unreadable', error: item.error } }
  }
  const body = binaryBody(item)
  if (body) return { type: 'body', body }
  return ArrayBuffer.isView(item) ? seeNumbers(item) : null
}

function seeContents(item: object, key: unknown): SeenContents {
  const contents = readContents(item)
  return { type: 'contents', contents, shape: shapeIn(item, contents, key) }
}

/** Where a field throws, an {@link Unreadable} stands for it. */
function readContents(item: object): Contents {
  try {
    return contentsOf(item)
  } catch (error) {
    if (error instanceof ListTooLongError) throw error
    return readableContents(item, (error) => new Unreadable(error))
  }
}

/** Plain data, in most cases: what needs no look at its class. */
function isContainer(item: object): boolean {
  const prototype = Object.getPrototypeOf(item)
  if (prototype === Object.prototype || prototype === Array.prototype) return true
  return prototype === null || item instanceof Map || item instanceof Set
}

/** The shape that an object is, with what stays beside its body; null for plain data, and beside a reference. */
function shapeIn(item: object, { keys, items }: Contents, parentKey: unknown): ShapeFound | null {
  if (item instanceof Map || !keys?.some((key, i) => mayHoldBody(key, items[i]))) return null
  const fields = Object.fromEntries(keys.map((key, i) => [key, items[i]])) as Fields
  const shape = carriesRef(fields.assetRef) ? null : shapeOf(fields, parentKey)
  if (!shape) return null
  const dropped = new Set([...shape.keys, ...copiedKeys(fields)])
  if (shape.typeKey !== null) dropped.add(shape.typeKey)
  const kept = Object.entries(fields).filter(([key]) => !dropped.has(key) && !RESULT_KEYS.has(key))
  return { ...shape, rest: Object.fromEntries(kept) }
}

function seeNumbers(view: ArrayBufferView): Seen {
  const numbers = view as ArrayBufferView & ArrayLike<number | bigint>
  return numbers.length > MAX_LISTED
    ? { type: 'body', body: { type: 'numbers', view } }
    : { type: 'numbers', list: Array.from(numbers) }
}

/** Whether a value has fields or items. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
