import { Branch, copyTree } from '../json/copy-tree.ts'
import type { JsonValue } from '../json/json.ts'
import { type FieldKey, indexOf } from '../refs/field-key.ts'
import { MISSING, ownField } from '../refs/field-path.ts'

/**
 * How the board keeps a value and its past. A small container is a frozen JSON value, copied when it changes; one of
 * many entries is a {@link Wide}, which keeps versions per key: a change then costs its own size, and every past state
 * can be read. Versions are numbered by position: that of the message that wrote them.
 */
export type Stored = JsonValue | Wide

/** A stored value that has entries. */
export type Container = Exclude<Stored, null | boolean | number | string>

/** A stored value, or nothing. */
export type Maybe = Stored | typeof MISSING

/** The position after all others. */
export const NOW = Number.POSITIVE_INFINITY

/** One value with its past. Positions only grow. */
export class Slot {
  #versions: { value: Maybe; since: number }[]

  constructor(value: Maybe, since: number) {
    this.#versions = [{ value, since }]
  }

  /** The position of its first value. */
  get birth(): number {
    return this.#versions[0]?.since as number
  }

  set(value: Maybe, since: number): void {
    if (value !== this.at(NOW)) this.#versions.push({ value, since })
  }

  /** What it was once the message at this position was there. Logarithmic in the number of versions. */
  at(position: number): Maybe {
    const count = countUpTo(this.#versions, position, ({ since }) => since)
    const version = this.#versions[count - 1]
    return version ? version.value : MISSING
  }
}

/** How many of the items, which are in order, are not above a limit. */
export function countUpTo<T>(
  items: readonly T[],
  limit: number,
  measure: (item: T) => number,
): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (measure(items[middle] as T) <= limit) low = middle + 1
    else high = middle
  }
  return low
}

/** A list or an object of many entries. */
export class Wide {
  readonly isList: boolean
  /** The number of items of a list. */
  length = 0
  /** The value as plain JSON, until the next change in it. */
  json: JsonValue | undefined
  /** In the order in which keys came first. What is deleted keeps its place, without a value. */
  #slots = new Map<FieldKey, Slot>()

  constructor(isList: boolean) {
    this.isList = isList
  }

  get(key: FieldKey, position: number): Maybe {
    const slot = this.#slots.get(this.#own(key))
    return slot ? slot.at(position) : MISSING
  }

  /** Sets an entry, or adds one at the end. */
  set(key: FieldKey, value: Stored, position: number): void {
    this.json = undefined
    const own = this.#own(key)
    const slot = this.#slots.get(own)
    if (slot) slot.set(value, position)
    else this.#slots.set(own, new Slot(value, position))
    if (this.isList) this.length = Math.max(this.length, (own as number) + 1)
  }

  /** Takes an entry out; items of a list that follow it move up. */
  delete(key: FieldKey, position: number): void {
    this.json = undefined
    let own = this.#own(key)
    if (this.isList) {
      this.length--
      for (let i = own as number; i < this.length; i++)
        this.set(i, this.get(i + 1, NOW) as Stored, position)
      own = this.length
    }
    this.#slots.get(own)?.set(MISSING, position)
  }

  *entries(position: number): Iterable<[FieldKey, Stored]> {
    for (const [key, slot] of this.#slots) {
      if (slot.birth > position) return
      const value = slot.at(position)
      if (value !== MISSING) yield [key, value]
    }
  }

  #own(key: FieldKey): FieldKey {
    return this.isList ? indexOf(key) : String(key)
  }
}

export function isList(value: Maybe): value is Wide | readonly JsonValue[] {
  return value instanceof Wide ? value.isList : Array.isArray(value)
}

export function isContainer(value: Maybe): value is Container {
  return typeof value === 'object' && value !== null
}

/** The value under a key, as of a position. "0" and 0 are the same item of a list. */
export function childOf(container: Maybe, key: FieldKey, position: number = NOW): Maybe {
  if (container instanceof Wide) return container.get(key, position)
  return ownField(container, key) as Maybe
}

/** The value at a path, as of a position. */
export function valueAt(root: Maybe, path: readonly FieldKey[], position: number = NOW): Maybe {
  let value = root
  for (const key of path) value = childOf(value, key, position)
  return value
}

/** The plain, frozen JSON of a stored value as of a position. What is there now is made once until it changes. */
export function toJson<T extends Maybe>(
  root: T,
  position: number = NOW,
): T extends symbol ? T : JsonValue {
  if (!(root instanceof Wide)) return root as never
  const copy = copyTree(
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
  return copy as never
}
