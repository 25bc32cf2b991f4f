import { ByrefError } from '../errors.ts'

/**
 * A tool's result as the JSON that log and model get: a Map is an object (with keys that are no text, a list of pairs),
 * a Set a list, a Date ISO text; bigint, NaN and infinities are text; what has a `toJSON` says it by that. Functions and
 * symbols are left out of objects and null in lists. Nothing is null.
 *
 * @throws ByrefError `invalid_data` for a cycle, with its path.
 */
export function jsonValue(value: unknown): unknown {
  return convert(value, '', new Set()) ?? null
}

function convert(value: unknown, path: string, open: Set<object>): unknown {
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (typeof value === 'function' || typeof value === 'symbol') return undefined
  if (typeof value !== 'object' || value === null) return value
  if (open.has(value)) {
    throw new ByrefError(
      'invalid_data',
      `The result holds itself at ${path || '/'}, which JSON cannot carry`,
    )
  }
  open.add(value)
  const converted = convertObject(value, path, open)
  open.delete(value)
  return converted
}

function convertObject(value: object, path: string, open: Set<object>): unknown {
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return convert(value.toJSON(), path, open)
  }
  const list = (items: readonly unknown[]): unknown[] =>
    items.map((item, i) => convert(item, `${path}/${i}`, open) ?? null)
  if (Array.isArray(value)) return list(value)
  if (value instanceof Set) return list([...value])
  if (value instanceof Map && [...value.keys()].some((key) => typeof key !== 'string')) {
    return list([...value])
  }
  const entries: Iterable<[string, unknown]> = value instanceof Map ? value : Object.entries(value)
  const kept: [string, unknown][] = []
  for (const [key, item] of entries) {
    const converted = convert(item, `${path}/${key}`, open)
    if (converted !== undefined) kept.push([key, converted])
  }
  // fromEntries defines keys, so that "__proto__" is one like any other.
  return Object.fromEntries(kept)
}
