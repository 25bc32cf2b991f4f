/**
 * A copy of content that its receiver may change. Containers, bytes and dates are copied; live objects are the same
 * ones.
 */
export function copyContent(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyContent)
  if (value instanceof Date) return new Date(value)
  if (value instanceof Map) {
    return new Map([...value].map(([key, item]) => [copyContent(key), copyContent(item)]))
  }
  if (value instanceof Set) return new Set([...value].map(copyContent))
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return structuredClone(value)
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    const item = copyContent((value as Record<string, unknown>)[key])
    if (key === '__proto__') Object.defineProperty(copy, key, { value: item, ...PLAIN })
    else copy[key] = item
  }
  return copy
}

const PLAIN = { enumerable: true, configurable: true, writable: true }
