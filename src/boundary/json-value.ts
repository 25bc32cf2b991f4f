import { ByrefError } from '../core/errors.ts'
import { Branch, copyTree, isOpen } from '../core/json/copy-tree.ts'
import { toPointer } from '../core/refs/json-pointer.ts'

/**
 * A tool's result as the JSON that log and model get: a Map is an object (with keys that are no text, a list of pairs),
 * a Set a list, a Date ISO text; bigint, NaN and infinities are text; what has a `toJSON` says it by that. Functions and
 * symbols are left out of objects and null in lists. Nothing is null.
 *
 * @throws ByrefError `invalid_data` for a cycle, with its path.
 */
export function jsonValue(root: unknown): unknown {
  return copyTree(root, (given, open) => {
    const value = told(given)
    const inList = Array.isArray(open.at(-1)?.out)
    if (typeof value === 'bigint') return String(value)
    if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
    if (typeof value === 'function' || typeof value === 'symbol' || value === undefined) {
      return inList ? null : undefined
    }
    if (typeof value !== 'object' || value === null) return value as string | boolean | null
    if (!isOpen(value, open)) return branchOf(value)
    throw new ByrefError(
      'invalid_data',
      `The result holds itself at ${toPointer(open.map(({ key }) => key)) || '/'}, which JSON cannot carry`,
    )
  })
}

/** What a value says of itself by `toJSON`. */
function told(value: unknown): unknown {
  const { toJSON } = Object(value) as { toJSON?: unknown }
  return typeof toJSON === 'function' ? toJSON.call(value) : value
}

function branchOf(value: object): Branch {
  if (Array.isArray(value)) return new Branch(value, true, value.entries())
  if (value instanceof Set) return new Branch(value, true, [...value].entries())
  if (!(value instanceof Map)) return new Branch(value, false, Object.entries(value))
  const isRecord = [...value.keys()].every((key) => typeof key === 'string')
  return new Branch(value, !isRecord, isRecord ? value.entries() : [...value].entries())
}
