import { Branch, copyTree } from '../json/copy-json.ts'
import type { JsonValue } from '../json/json.ts'
import { type FieldKey, indexOf } from '../refs/field-key.ts'
import { MISSING, ownField } from '../refs/field-path.ts'

/**
 * How the board stores a value and its history. A small container is a frozen JSON value that is copied when
 * it changes. A large one is a {@link Wide}, which keeps versions per key: a change then costs only its own
 * size, and every past state can be read. The position of the message that wrote a version is its number.
 */
export type Stored = JsonValue | Wide

/** A stored value that has entries. */
export type Container = Exclude<Stored, null | boolean | number | string>

/** A stored value, or nothing. */
export type Maybe = Stored | typeof MISSING

/** A position after all others. */
export const NOW = Number.POSITIVE_INFINITY

/** One value and its history. Positions only increase. */
export class Slot {
  #versions: { value: Maybe; since: number }[]

  constructor(value: Maybe, since: number) {
    this.#versions = [{ value, since }]
  }

  /** The position of the first version. */
  get birth(): number {
    return this.#versions[0]?.since as number
  }

  set(value: Maybe, since: number): void {
    if (value !== this.at(NOW)) this.#versions.push({ value, since })
  }

  /** Returns the value as of a position. Takes logarithmic time in the number of versions. */
  at(position: number): Maybe {
    const count = countWhile(this.#versions, ({ since }) => since <= position)
    const version = this.#versions[count - 1]
    return version ? version.value : MISSING
  }
}

/** Returns how many items come before the first one that fails the test. It is a binary search: all later ones must fail. */
export function countWhile<T>(items: readonly T[], test: (item: T) => boolean): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (test(items[middle] as T)) low = middle + 1
    else high = middle
  }
  return low
}

/** A list or an object with many entries. */
export class Wide {
  readonly isList: boolean
  /** The number of items of a list. */
  length = 0
  /** Caches the current value as plain JSON until the next change. */
  json: JsonValue | undefined
  /** In the order in which keys were first added. A deleted key keeps its place, without a value. */
  #slots = new Map<FieldKey, Slot>()

  constructor(isList: boolean) {
    this.isList = isList
  }

  get(key: FieldKey, position: number): Maybe {
    const slot = this.#slots.get(this.#entryKey(key))
    return slot ? slot.at(position) : MISSING
  }

  /** Sets an entry, or adds one at the end. */
  set(key: FieldKey, value: Stored, position: number): void {
    this.json = undefined
    const entryKey = this.#entryKey(key)
    const slot = this.#slots.get(entryKey)
    if (slot) slot.set(value, position)
    else this.#slots.set(entryKey, new Slot(value, position))
    if (this.isList) this.length = Math.max(this.length, (entryKey as number) + 1)
  }

  /** Deletes an entry. Later items of a list move up. */
  delete(key: FieldKey, position: number): void {
    this.json = undefined
    let entryKey = this.#entryKey(key)
    if (this.isList) {
      this.length--
      for (let i = entryKey as number; i < this.length; i++)
        this.set(i, this.get(i + 1, NOW) as Stored, position)
      entryKey = this.length
    }
    this.#slots.get(entryKey)?.set(MISSING, position)
  }

  *entries(position: number): Iterable<[FieldKey, Stored]> {
    for (const [key, slot] of this.#slots) {
      if (slot.birth > position) return
      const value = slot.at(position)
      if (value !== MISSING) yield [key, value]
    }
  }

  #entryKey(key: FieldKey): FieldKey {
    return this.isList ? indexOf(key) : String(key)
  }
}

export function isList(value: Maybe): value is Wide | readonly JsonValue[] {
  return value instanceof Wide ? value.isList : Array.isArray(value)
}

export function isContainer(value: Maybe): value is Container {
  return typeof value === 'object' && value !== null
}

/** Returns the value under a key, as of a position. "0" and 0 are the same item of a list. */
export function childOf(container: Maybe, key: FieldKey, position: number = NOW): Maybe {
  if (container instanceof Wide) return container.get(key, position)
  return ownField(container, key) as Maybe
}

/** Returns the value at a path, as of a position. */
export function valueAt(root: Maybe, path: readonly FieldKey[], position: number = NOW): Maybe {
  let value = root
  for (const key of path) value = childOf(value, key, position)
  return value
}

/**
 * Returns a stored value as plain, frozen JSON, as of a position. The current value is cached until it
 * changes.
 */
export function toJson(root: Stored, position?: number): JsonValue
export function toJson(root: Maybe, position?: number): JsonValue | typeof MISSING
export function toJson(root: Maybe, position: number = NOW): JsonValue | typeof MISSING {
  if (!(root instanceof Wide)) return root
  return copyTree(
    root,
    (value) => {
      if (!(value instanceof Wide)) return value as JsonValue
      if (position === NOW && value.json !== undefined) return value.json
      return new Branch(value, value.isList, value.entries(position))
    },
    ({ source, out }) => {
      Object.freeze(out)
      if (position === NOW) (source as Wide).json = out
    },
  )
}
