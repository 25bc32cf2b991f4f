import { mayHoldDataUrl, startsAsFile } from '../bodies/data-url.ts'
import { mayHoldBody } from './asset-shapes.ts'

/** Returns whether text could be a body, or contain a data URL. It is a cheap test for the many texts that do not. */
export function mayBecomeAsset(text: string): boolean {
  return mayHoldDataUrl(text) || startsAsFile(text)
}

/** Returns whether JSON could contain a body: as text, or in an object with a key of bodies. */
export function mayHoldAssets(value: unknown): boolean {
  if (typeof value === 'string') return mayBecomeAsset(value)
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(mayHoldAssets)
  return Object.entries(value).some(([key, item]) => mayHoldBody(key, item) || mayHoldAssets(item))
}

/** Maximum number of values that are examined one by one. A larger result is walked as usual. */
const MAX_VALUES = 500

/**
 * Returns whether a value is small, plain JSON without bodies and references. Most results of tools are, and need no
 * walk.
 */
export function isPlainJson(value: unknown): boolean {
  let left = MAX_VALUES
  const isPlain = (item: unknown): boolean => {
    if (--left < 0) return false
    if (typeof item === 'string') return !mayBecomeAsset(item)
    if (typeof item !== 'object' || item === null) {
      return item === null || typeof item === 'boolean' || Number.isFinite(item)
    }
    if (Array.isArray(item)) return item.length <= MAX_VALUES && item.every(isPlain)
    const prototype: unknown = Object.getPrototypeOf(item)
    if (prototype !== Object.prototype && prototype !== null) return false
    for (const key of Reflect.ownKeys(item)) {
      const field = Object.getOwnPropertyDescriptor(item, key)
      const isOwn = typeof key === 'string' && field?.enumerable && 'value' in field
      if (!isOwn || key === 'assetRef' || mayHoldBody(key, field.value)) return false
      if (!isPlain(field.value)) return false
    }
    return true
  }
  try {
    return isPlain(value)
  } catch {
    // A Proxy may throw.
    return false
  }
}
