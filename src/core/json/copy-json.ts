import { ByrefError } from '../errors.ts'
import { Branch, copyTree, isOpen } from './copy-tree.ts'
import { className, isPlainObject, type JsonValue } from './json.ts'

/**
 * Returns a frozen copy with the rules of JSON: undefined is dropped from objects and becomes null in lists,
 * and `toJSON` is called. Throws `invalid_data`, with the path, for values that JSON would lose or change:
 * bigint, NaN, functions, Maps, bytes, class instances, cycles. Accepts any depth and any key.
 */
export function copyJson(root: unknown): JsonValue {
  return copyTree(
    root,
    (given, open) => {
      const value = typeof Object(given).toJSON === 'function' ? Object(given).toJSON('') : given
      if (value === undefined) return Array.isArray(open.at(-1)?.out) ? null : undefined
      if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
      if (Number.isFinite(value)) return value
      const isList = Array.isArray(value)
      const isCycle = isOpen(value, open)
      if (isCycle || !(isList || isPlainObject(value))) {
        const what = isCycle
          ? 'contains itself'
          : `is ${typeof value === 'number' ? value : `a ${className(value)}`}`
        throw new ByrefError(
          'invalid_data',
          `The value at ${JSON.stringify(open.map(({ key }) => key))} ${what}: data must be JSON. Save the value as an asset instead.`,
        )
      }
      return new Branch(value, isList, isList ? value.entries() : Object.entries(value))
    },
    ({ out }) => Object.freeze(out),
  )
}
