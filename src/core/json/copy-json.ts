import { ByrefError } from '../errors.ts'
import type { FieldKey } from '../refs/field-key.ts'
import { className, isPlainObject, type JsonValue, putKey } from './json.ts'

/**
 * Returns a frozen copy with the rules of JSON: undefined is dropped from objects and becomes null in lists,
 * and `toJSON` is called. Throws `invalid_data`, with the path, for values that JSON would lose or change:
 * bigint, NaN, functions, Maps, bytes, class instances, cycles. Accepts any depth and any key.
 */
export function copyJson(root: unknown): JsonValue {
  return copyTree(
    root,
    (given, open, sources) => {
      const value = typeof Object(given).toJSON === 'function' ? Object(given).toJSON('') : given
      if (value === undefined) return Array.isArray(open.at(-1)?.out) ? null : undefined
      if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
      if (Number.isFinite(value)) return value
      const isList = Array.isArray(value)
      const isCycle = sources.has(value)
      if (isCycle || !(isList || isPlainObject(value))) {
        const problem = isCycle
          ? 'contains itself'
          : `is ${typeof value === 'number' ? value : `a ${className(value)}`}`
        throw new ByrefError(
          'invalid_data',
          `The value at ${JSON.stringify(open.map(({ key }) => key))} ${problem}: data must be JSON. Save the value as an asset instead.`,
        )
      }
      return new Branch(value, isList, isList ? value.entries() : Object.entries(value))
    },
    ({ out }) => Object.freeze(out),
  )
}

/** A container that is being copied: its source, its copy, and its entries in order. */
export class Branch {
  readonly source: object
  readonly out: JsonValue[] | Record<string, JsonValue>
  readonly entries: Iterator<[FieldKey, unknown]>
  /** The key of the entry that is being copied. */
  key: FieldKey = ''

  constructor(source: object, isList: boolean, entries: Iterable<[FieldKey, unknown]>) {
    this.source = source
    this.out = isList ? [] : {}
    this.entries = entries[Symbol.iterator]()
  }
}

/**
 * Copies a tree of any depth. `visit` returns the copy of a value, a {@link Branch} for a container, or
 * undefined, which drops it. `open` has the branches around the value, from the root. `sources` has their
 * sources: a value among them contains itself. `close` is called with each complete branch.
 */
export function copyTree(
  root: unknown,
  visit: (
    value: unknown,
    open: readonly Branch[],
    sources: ReadonlySet<unknown>,
  ) => Branch | JsonValue | undefined,
  close: (branch: Branch) => void = () => {},
): JsonValue {
  const open: Branch[] = []
  // A search of `open` would take quadratic time.
  const sources = new Set<unknown>()
  const enter = (value: unknown): JsonValue | undefined => {
    const found = visit(value, open, sources)
    if (!(found instanceof Branch)) return found
    open.push(found)
    sources.add(found.source)
    return found.out
  }
  const copy = enter(root)
  for (let branch = open.at(-1); branch; branch = open.at(-1)) {
    const { done, value: entry } = branch.entries.next()
    if (done) {
      close(branch)
      open.pop()
      sources.delete(branch.source)
      continue
    }
    branch.key = entry[0]
    const value = enter(entry[1])
    if (value === undefined) continue
    if (Array.isArray(branch.out)) branch.out.push(value)
    else putKey(branch.out, String(branch.key), value)
  }
  return copy ?? null
}
