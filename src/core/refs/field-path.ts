import { checkOptions, is, type OptionTable } from '../check-options.ts'
import { ByrefError } from '../errors.ts'
import { shownItems, textStart } from '../json/cut.ts'
import { shownJson } from '../json/json.ts'
import { formatAssetRef, isAssetId } from './asset-ref.ts'
import { type FieldKey, indexOf } from './field-key.ts'

/** Returned by {@link ownField} if the field does not exist. */
export const MISSING: unique symbol = Symbol('missing')

export type { FieldKey } from './field-key.ts'

/** Maximum number of keys that an error lists. */
export const SHOWN_KEYS = 20

/**
 * Thrown if a path does not exist. `message` is written for a model: it says what exists and where to look
 * instead.
 */
export class FieldPathError extends ByrefError {
  /** The requested path. */
  readonly path: readonly FieldKey[]
  /** The longest prefix of the path that exists. */
  readonly prefix: readonly FieldKey[]

  constructor(message: string, path: readonly FieldKey[], prefix: readonly FieldKey[]) {
    super('field_not_found', message)
    this.path = path
    this.prefix = prefix
  }
}

/** Options of {@link resolveFieldPath}. */
export interface ResolveOptions {
  /**
   * Formats a path in error messages. Default: a reference if the value is an asset, otherwise `value/key/0`.
   */
  format?: (path: readonly FieldKey[]) => string
}

const RESOLVE: OptionTable<ResolveOptions> = { format: is.callback() }

/**
 * Returns the value at the path. It follows own enumerable keys, items of lists and typed arrays, and entries
 * of Maps, but no prototypes, methods or getters. An existing null is a value. Throws {@link FieldPathError}.
 */
export function resolveFieldPath(
  value: unknown,
  path: readonly FieldKey[],
  options?: ResolveOptions,
): unknown {
  const { format = formatter(value) } = checkOptions('resolveFieldPath', options, RESOLVE)
  let current = value
  for (const [depth, key] of path.entries()) {
    const next = ownField(current, key)
    if (next === MISSING) {
      const prefix = path.slice(0, depth)
      const isOutside = depth === 0 && isAsset(value)
      const hint = isOutside ? ` Did you mean ${format(['content', ...path])}?` : ''
      throw new FieldPathError(explainMissing(format(prefix), current, key) + hint, path, prefix)
    }
    current = next
  }
  return current
}

/**
 * Returns the field with this key, by the rules of {@link resolveFieldPath}; {@link MISSING} if there is none.
 */
export function ownField(value: unknown, key: FieldKey): unknown {
  if (typeof value !== 'object' || value === null) return MISSING
  const index = indexOf(key)
  if (isList(value)) return index === -1 ? MISSING : ownData(value, index)
  if (!(value instanceof Map)) return ownData(value, key)
  for (const one of [key, index, String(key)]) if (value.has(one)) return value.get(one)
  return MISSING
}

/**
 * Explains to a model why a step fails: which value lacks the key, and which keys it has (at most 20, with
 * their number), or how long the list is. The last key may be the mark of a cut, as in a meta.
 */
export function explainMissing(name: string, value: unknown, key: FieldKey): string {
  const missing = `has no ${JSON.stringify(key)}`
  if (typeof value !== 'object' || value === null)
    return `${name} is ${describeValue(value)} and ${missing}.`
  if (isList(value)) return `${name} ${missing}; it is a list of ${value.length}, from 0.`
  const keys: unknown[] = value instanceof Map ? [...value.keys()] : Object.keys(value)
  const { items, length } = shownItems(keys)
  const shown = items.slice(0, SHOWN_KEYS).map((one) => textStart(shownJson(one), 100))
  if (shown.length < length) shown.push('…')
  const listed = shown.length > 0 ? `: ${shown.join(', ')}` : ''
  return `${name} ${missing}; it has ${length}${listed}.`
}

/** Describes a value for a message: `null`, `a list`, or its type. */
export function describeValue(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value
}

function isList(value: object): value is ArrayLike<unknown> & object {
  return Array.isArray(value) || ArrayBuffer.isView(value)
}

function ownData(value: object, key: FieldKey): unknown {
  const field = Object.getOwnPropertyDescriptor(value, key)
  if (!field?.enumerable || !('value' in field)) return MISSING
  return typeof field.value === 'function' ? MISSING : field.value
}

function isAsset(value: unknown): value is { asset_id: string } {
  return isAssetId(ownField(value, 'asset_id')) && ownField(value, 'content') !== MISSING
}

function formatter(value: unknown): (path: readonly FieldKey[]) => string {
  if (!isAsset(value)) return (path) => ['value', ...path].join('/')
  return (path) => formatAssetRef({ id: value.asset_id, fieldPath: [...path] })
}
