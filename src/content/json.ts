import { ByrefError } from '../errors.ts'

/** What JSON can carry. Values on the board are frozen. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue }

export type JsonObject = { readonly [key: string]: JsonValue }

/** A container on its way in, with where it goes. */
interface Frame {
  source: object
  out: Record<string, JsonValue> | JsonValue[]
  keys: string[] | null
  next: number
}

/**
 * A frozen copy, as JSON would carry it: undefined is dropped from objects and null in lists, `toJSON` is honoured.
 * What JSON would lose or bend (bigint, NaN, functions, Maps, bytes, class instances, cycles) throws `invalid_data`
 * with its path, because a fact must not change on its way to the board. Any depth, any key.
 */
export function copyJson(value: unknown): JsonValue {
  const stack: Frame[] = []
  const open = new Set<object>()

  const enter = (item: unknown): JsonValue => {
    let source = item
    if (isObject(source) && typeof source.toJSON === 'function') source = source.toJSON('')
    if (source === null || typeof source === 'string' || typeof source === 'boolean') return source
    if (typeof source === 'number' && Number.isFinite(source)) return source
    if (source === undefined) return null
    if (!Array.isArray(source) && !isPlainObject(source)) throw refuse(source, stack)
    if (open.has(source)) throw refuse(source, stack)
    open.add(source)
    const keys = Array.isArray(source) ? null : Object.keys(source)
    const out = keys ? {} : []
    stack.push({ source, out, keys, next: 0 })
    return out
  }

  const result = enter(value)
  for (let frame = stack.at(-1); frame; frame = stack.at(-1)) {
    const { source, out, keys } = frame
    if (frame.next === (keys ?? (source as unknown[])).length) {
      Object.freeze(out)
      open.delete(source)
      stack.pop()
    } else if (keys) {
      const key = keys[frame.next++] as string
      const item = (source as Record<string, unknown>)[key]
      if (item !== undefined) putKey(out as Record<string, JsonValue>, key, enter(item))
    } else {
      ;(out as JsonValue[]).push(enter((source as unknown[])[frame.next++]))
    }
  }
  return result
}

/** Whether the value is an object that holds plain data: no list, no class instance. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const prototype = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null) return true
  return Object.getPrototypeOf(prototype) === null
}

/** Sets an own key, `__proto__` too. */
export function putKey<T>(target: Record<string, T>, key: string, value: T): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    })
  } else {
    target[key] = value
  }
}

/** The name of the class of a value that is no plain data: `Uint8Array`, `Map`, `Chart`. */
export function className(value: unknown): string {
  let prototype = Object.getPrototypeOf(Object(value))
  while (prototype !== null) {
    const own = Object.getOwnPropertyDescriptor(prototype, 'constructor')?.value
    const name = typeof own === 'function' && Object.getOwnPropertyDescriptor(own, 'name')?.value
    if (typeof name === 'string' && name !== '') return name
    prototype = Object.getPrototypeOf(prototype)
  }
  return 'object'
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function refuse(value: unknown, stack: Frame[]): ByrefError {
  const path = stack.map(({ keys, next }) => keys?.[next - 1] ?? next - 1)
  const what =
    typeof value === 'object' && (Array.isArray(value) || isPlainObject(value))
      ? 'contains itself'
      : typeof value === 'number'
        ? `is ${value}`
        : `is a ${typeof value === 'object' ? className(value) : typeof value}`
  return new ByrefError(
    'invalid_data',
    `The value at ${JSON.stringify(path)} ${what}: data is JSON. Save it as an asset and write its reference instead.`,
  )
}
