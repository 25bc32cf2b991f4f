import { textStart } from './cut.ts'

/** A JSON value. Values on the board are frozen. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue }

export type JsonObject = { readonly [key: string]: JsonValue }

/** Whether the value is an object with plain data, not a list or a class instance. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const prototype = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null) return true
  return Object.getPrototypeOf(prototype) === null
}

/** Sets an own key, including `__proto__`. */
export function putKey<T>(target: Record<string, T>, key: string, value: T): void {
  if (key !== '__proto__') {
    target[key] = value
    return
  }
  const rest = { enumerable: true, configurable: true, writable: true }
  Object.defineProperty(target, key, { value, ...rest })
}

/**
 * Shows a value in an error message: the first 200 characters of its JSON, or its type if it has none. Never
 * throws.
 */
export function shownJson(value: unknown): string {
  try {
    return textStart(JSON.stringify(value) ?? typeof value, 200)
  } catch {
    return typeof value
  }
}

/** Returns the class name of a value that is not plain data: `Uint8Array`, `Map`, `Chart`. */
export function className(value: unknown): string {
  let prototype = Object.getPrototypeOf(Object(value))
  while (prototype !== null) {
    const type = Object.getOwnPropertyDescriptor(prototype, 'constructor')?.value
    const name = Object.getOwnPropertyDescriptor(Object(type), 'name')?.value
    if (typeof name === 'string' && name !== '') return name
    prototype = Object.getPrototypeOf(prototype)
  }
  return 'object'
}
