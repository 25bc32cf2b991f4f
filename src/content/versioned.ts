import { type FieldKey, indexOf } from '../refs/field-key.ts'
import { MISSING } from '../refs/field-path.ts'
import { type JsonValue, putKey } from './json.ts'

/**
 * How the board keeps a value and its past. A small container is a frozen JSON value, copied when it changes. A wide
 * one is a {@link WideObject} or {@link WideList} with versions per key: a change then costs its own size, and every
 * past state can be read. Versions are numbered by position: that of the message that wrote them.
 */
export type Stored = JsonValue | WideObject | WideList

/** A stored value that has entries. */
export type Container = Exclude<Stored, null | boolean | number | string>

/** A stored value, or nothing. */
export type Maybe = Stored | typeof MISSING

/** The position after all others. */
export const NOW = Number.POSITIVE_INFINITY

/** One value with its past. Positions only grow. */
export class Slot {
  #value: Maybe
  #since: number
  #past: { value: Maybe; since: number }[] | null = null
  readonly #before: Slot | null

  /** `before` is the slot of the same key in an earlier life, before it was deleted. */
  constructor(value: Maybe, since: number, before: Slot | null = null) {
    this.#value = value
    this.#since = since
    this.#before = before
  }

  get now(): Maybe {
    return this.#value
  }

  /** The position of its first value. */
  get birth(): number {
    return this.#past?.[0]?.since ?? this.#since
  }

  set(value: Maybe, position: number): void {
    if (value === this.#value) return
    if (position !== this.#since) {
      this.#past ??= []
      this.#past.push({ value: this.#value, since: this.#since })
      this.#since = position
    }
    this.#value = value
  }

  /** What it was once the message at this position was there. Logarithmic in the number of versions. */
  at(position: number): Maybe {
    if (position >= this.#since) return this.#value
    const past = this.#past ?? []
    let low = 0
    let high = past.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((past[middle]?.since ?? 0) <= position) low = middle + 1
      else high = middle
    }
    const version = past[low - 1]
    if (version) return version.value
    return this.#before ? this.#before.at(position) : MISSING
  }
}

/** An object of many keys, in the order in which they came. */
export class WideObject {
  #slots = new Map<string, Slot>()
  /** Deleted keys, with the slot of their last life. */
  #gone: Map<string, Slot> | null = null
  /** Every key that ever was, in order of birth; null as long as none was deleted. */
  #lives: [string, Slot][] | null = null
  /** The value as plain JSON, until the next change in it. */
  json: JsonValue | undefined

  get(key: string, position: number): Maybe {
    const slot = this.#slots.get(key) ?? this.#gone?.get(key)
    return slot ? slot.at(position) : MISSING
  }

  set(key: string, value: Stored, position: number): void {
    this.json = undefined
    const slot = this.#slots.get(key)
    if (slot) {
      slot.set(value, position)
      return
    }
    const born = new Slot(value, position, this.#gone?.get(key) ?? null)
    this.#gone?.delete(key)
    this.#slots.set(key, born)
    this.#lives?.push([key, born])
  }

  delete(key: string, position: number): void {
    const slot = this.#slots.get(key)
    if (!slot) return
    this.json = undefined
    this.#lives ??= [...this.#slots]
    this.#gone ??= new Map()
    this.#slots.delete(key)
    this.#gone.set(key, slot)
    slot.set(MISSING, position)
  }

  *entries(position: number): Iterable<[string, Stored]> {
    for (const [key, slot] of position === NOW ? this.#slots : (this.#lives ?? this.#slots)) {
      if (slot.birth > position) return
      const value = slot.at(position)
      if (value !== MISSING) yield [key, value]
    }
  }
}

/** A list of many items. */
export class WideList {
  #slots: Slot[] = []
  #length = new Slot(0, 0)
  json: JsonValue | undefined

  length(position: number): number {
    const length = this.#length.at(position)
    return typeof length === 'number' ? length : 0
  }

  get(index: number, position: number): Maybe {
    const slot = index < this.length(position) ? this.#slots[index] : undefined
    return slot ? slot.at(position) : MISSING
  }

  /** Sets an item, or appends one at the end. */
  set(index: number, value: Stored, position: number): void {
    this.json = undefined
    const slot = this.#slots[index]
    if (slot) slot.set(value, position)
    else this.#slots[index] = new Slot(value, position)
    if (index >= this.length(NOW)) this.#length.set(index + 1, position)
  }

  /** Removes an item; those after it move up. */
  delete(index: number, position: number): void {
    this.json = undefined
    const last = this.length(NOW) - 1
    for (let i = index; i <= last; i++) {
      this.#slots[i]?.set(i === last ? MISSING : this.get(i + 1, NOW), position)
    }
    this.#length.set(last, position)
  }

  *entries(position: number): Iterable<[number, Stored]> {
    const length = this.length(position)
    for (let i = 0; i < length; i++) {
      const value = this.get(i, position)
      if (value !== MISSING) yield [i, value]
    }
  }
}

export function isWide(value: Maybe): value is WideObject | WideList {
  return value instanceof WideObject || value instanceof WideList
}

export function isList(value: Maybe): value is WideList | readonly JsonValue[] {
  return value instanceof WideList || Array.isArray(value)
}

export function isContainer(value: Maybe): value is Container {
  return typeof value === 'object' && value !== null
}

/** The items of a list. */
export function listLength(list: WideList | readonly JsonValue[]): number {
  return list instanceof WideList ? list.length(NOW) : list.length
}

/** The value under a key, as of a position. "0" and 0 are the same item of a list. */
export function childOf(container: Maybe, key: FieldKey, position: number = NOW): Maybe {
  if (!isContainer(container)) return MISSING
  if (container instanceof WideObject) return container.get(String(key), position)
  if (isList(container)) {
    const index = indexOf(key)
    if (index === -1) return MISSING
    if (container instanceof WideList) return container.get(index, position)
    return index < container.length ? (container[index] as JsonValue) : MISSING
  }
  const fields = container as { [key: string]: JsonValue }
  return Object.hasOwn(fields, key) ? (fields[key] as JsonValue) : MISSING
}

/** The value at a path, as of a position. */
export function valueAt(root: Maybe, path: readonly FieldKey[], position: number = NOW): Maybe {
  let value = root
  for (const key of path) {
    value = childOf(value, key, position)
    if (value === MISSING) break
  }
  return value
}

/** The plain, frozen JSON of a stored value as of a position. What is there now is made once until it changes. */
export function toJson(root: Stored, position: number = NOW): JsonValue {
  const known = ready(root, position)
  if (known !== undefined) return known
  const stack = [open(root as WideObject | WideList, position)]
  for (let frame = stack.at(-1) as Frame; ; frame = stack.at(-1) as Frame) {
    const next = frame.entries.next()
    if (next.done) {
      Object.freeze(frame.out)
      if (position === NOW) frame.source.json = frame.out
      stack.pop()
      if (stack.length === 0) return frame.out
      continue
    }
    const [key, value] = next.value
    const json = ready(value, position)
    const child = json === undefined ? open(value as WideObject | WideList, position) : null
    if (child) stack.push(child)
    const item = child ? child.out : (json as JsonValue)
    if (Array.isArray(frame.out)) frame.out.push(item)
    else putKey(frame.out, key as string, item)
  }
}

interface Frame {
  source: WideObject | WideList
  entries: Iterator<[FieldKey, Stored]>
  out: Record<string, JsonValue> | JsonValue[]
}

function open(source: WideObject | WideList, position: number): Frame {
  const entries = source.entries(position)[Symbol.iterator]()
  return { source, entries, out: source instanceof WideList ? [] : {} }
}

function ready(value: Stored, position: number): JsonValue | undefined {
  if (!isWide(value)) return value
  return position === NOW ? value.json : undefined
}
