import { isPlainObject, putKey } from '../content/json.ts'

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
  if (!isPlainObject(value)) return value
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) putKey(copy, key, copyContent(value[key]))
  return copy
}
