import { ByrefError } from '../errors.ts'
import { Branch, copyTree, isOpen } from './copy-tree.ts'
import { className, isPlainObject, type JsonValue } from './json.ts'

/**
 * A frozen copy, as JSON would carry it: undefined is dropped from objects and null in lists, `toJSON` is honoured.
 * What JSON would lose or bend (bigint, NaN, functions, Maps, bytes, class instances, cycles) throws `invalid_data`
 * with its path, because a fact must not change on its way to the board. Any depth, any key.
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
          `The value at ${JSON.stringify(open.map(({ key }) => key))} ${what}: data is JSON. Save it as an asset.`,
        )
      }
      return new Branch(value, isList, isList ? value.entries() : Object.entries(value))
    },
    ({ out }) => Object.freeze(out),
  )
}
