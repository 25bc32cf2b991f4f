import { ByrefError } from '../errors.ts'
import { isAssetId } from './asset-id.ts'
import { formatAssetRef } from './asset-ref.ts'
import { type FieldKey, indexOf } from './field-key.ts'

/** What {@link ownField} gives where there is nothing. */
export const MISSING: unique symbol = Symbol('missing')

export type { FieldKey } from './field-key.ts'

/** How many keys an error names. */
const SHOWN_KEYS = 20

/** A path that ends before its end. `message` is written for a model: what is there, and where to look instead. */
export class FieldPathError extends ByrefError {
  /** The path that was asked for. */
  readonly path: readonly FieldKey[]
  /** The longest prefix of it that exists. */
  readonly prefix: readonly FieldKey[]
  /** The first 20 keys there; for a list its indices. */
  readonly keys: readonly FieldKey[]
  /** How many keys there are. */
  readonly keyCount: number

  constructor(
    message: string,
    found: { path: readonly FieldKey[]; prefix: readonly FieldKey[]; keys: FieldKeys },
  ) {
    super('field_not_found', message)
    this.path = found.path
    this.prefix = found.prefix
    this.keys = found.keys.first
    this.keyCount = found.keys.count
  }
}

/** The keys of a container: the first 20, and how many there are. */
export interface FieldKeys {
  first: FieldKey[]
  count: number
}

/** Options of {@link resolveFieldPath}. */
export interface ResolveOptions {
  /** How an error writes a path. Default: as a reference, if the value is an asset, else `value/key/0`. */
  format?: (path: readonly FieldKey[]) => string
}

/**
 * The value at the path: through own enumerable keys, items of lists and typed arrays, entries of Maps, and nothing
 * else: no prototype, method or getter (spec R5). A null that is there is a value. Throws {@link FieldPathError}.
 */
export function resolveFieldPath(
  value: unknown,
  path: readonly FieldKey[],
  options: ResolveOptions = {},
): unknown {
  let current = value
  for (const [depth, key] of path.entries()) {
    const next = ownField(current, key)
    if (next === MISSING) throw notFound(value, path, { depth, at: current, ...options })
    current = next
  }
  return current
}

/** The field of this key, by the rules of {@link resolveFieldPath}; {@link MISSING} if there is none. */
export function ownField(value: unknown, key: FieldKey): unknown {
  if (typeof value !== 'object' || value === null) return MISSING
  if (Array.isArray(value)) return ownData(value, indexOf(key))
  if (ArrayBuffer.isView(value)) {
    const index = indexOf(key)
    const items = value as unknown as ArrayLike<unknown>
    return index !== -1 && index < items.length ? items[index] : MISSING
  }
  if (value instanceof Map) {
    const other = typeof key === 'number' ? String(key) : indexOf(key)
    return value.has(key) ? value.get(key) : value.has(other) ? value.get(other) : MISSING
  }
  return ownData(value, key)
}

/** The keys that {@link ownField} knows there; null for a value that has no fields. */
export function fieldKeys(value: unknown): FieldKeys | null {
  if (typeof value !== 'object' || value === null) return null
  if (Array.isArray(value) || ArrayBuffer.isView(value)) {
    const count = (value as unknown as ArrayLike<unknown>).length ?? 0
    return { first: [...Array(Math.min(count, SHOWN_KEYS)).keys()], count }
  }
  const keys: FieldKey[] = value instanceof Map ? [...value.keys()] : Object.keys(value)
  const first: FieldKey[] = []
  for (const key of keys) {
    if (first.length === SHOWN_KEYS) break
    if (ownField(value, key) !== MISSING) first.push(key)
  }
  return { first, count: keys.length }
}

/** What a value is, in words for a message: `a list of 3 items`, `text`, `a Chart`. */
export function describeValue(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value === 'string') return 'text'
  if (typeof value !== 'object') return `a ${typeof value}`
  if (Array.isArray(value)) return `a list of ${value.length} items`
  return 'an object'
}

/** What a container has, in words: `it has 3: "a", "b", "c"`. */
export function listKeys(keys: FieldKeys): string {
  if (keys.count === 0) return 'it is empty'
  const more = keys.count > keys.first.length ? ', …' : ''
  return `it has ${keys.count}: ${keys.first.map((key) => JSON.stringify(key)).join(', ')}${more}`
}

function ownData(value: object, key: FieldKey): unknown {
  if (key === -1) return MISSING
  const field = Object.getOwnPropertyDescriptor(value, key)
  if (!field?.enumerable || field.get || field.set) return MISSING
  return typeof field.value === 'function' ? MISSING : field.value
}

function notFound(
  value: unknown,
  path: readonly FieldKey[],
  { depth, at, format = formatter(value) }: ResolveOptions & { depth: number; at: unknown },
): FieldPathError {
  const prefix = path.slice(0, depth)
  const keys = fieldKeys(at)
  const key = JSON.stringify(path[depth])
  const reason = keys
    ? `${format(prefix)} has no ${Array.isArray(at) ? 'item' : 'key'} ${key}; ${listKeys(keys)}.`
    : `${format(prefix)} is ${describeValue(at)} and has no key ${key}.`
  const hint = depth === 0 && isAsset(value) ? ` Did you mean ${format(['content', ...path])}?` : ''
  return new FieldPathError(reason + hint, { path, prefix, keys: keys ?? { first: [], count: 0 } })
}

function isAsset(value: unknown): value is { asset_id: string } {
  return typeof ownField(value, 'asset_id') === 'string' && ownField(value, 'content') !== MISSING
}

function formatter(value: unknown): (path: readonly FieldKey[]) => string {
  if (!isAsset(value) || !isAssetId(value.asset_id)) return (path) => ['value', ...path].join('/')
  const id = value.asset_id
  return (path) => formatAssetRef({ id, fieldPath: [...path] })
}
