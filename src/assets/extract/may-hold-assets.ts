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

/** A value with more parts or levels is walked as usual. Parts that occur several times count each time. */
const MAX_VALUES = 5_000_000
const MAX_LEVELS = 100

/**
 * Returns whether a value is plain JSON without bodies and references. Most results of tools are. This test takes a fifth of
 * the time of the usual walk, because it keeps nothing of what it has seen.
 */
export function isPlainJson(value: unknown): boolean {
  let left = MAX_VALUES
  const isPlain = (item: unknown, level: number): boolean => {
    if (--left < 0) return false
    if (typeof item === 'string') return !mayBecomeAsset(item)
    if (typeof item !== 'object' || item === null) {
      return item === null || typeof item === 'boolean' || Number.isFinite(item)
    }
    if (level === MAX_LEVELS) return false
    if (Array.isArray(item)) {
      return item.length <= left && item.every((one) => isPlain(one, level + 1))
    }
    const prototype: unknown = Object.getPrototypeOf(item)
    if (prototype !== Object.prototype && prototype !== null) return false
    for (const key of Reflect.ownKeys(item)) {
      const field = Object.getOwnPropertyDescriptor(item, key)
      const isOwn = typeof key === 'string' && field?.enumerable && 'value' in field
      if (!isOwn || key === 'assetRef' || mayHoldBody(key, field.value)) return false
      if (!isPlain(field.value, level + 1)) return false
    }
    return true
  }
  try {
    return isPlain(value, 0)
  } catch {
    // A Proxy may throw.
    return false
  }
}
