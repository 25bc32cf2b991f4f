import { mayHoldDataUrl, startsAsFile } from '../bodies/data-url.ts'
import { mayHoldBody } from './asset-shapes.ts'

/** Whether text could be a body, or have a data URL in it: cheap, for the many texts that are neither. */
export function mayBecomeAsset(text: string): boolean {
  return mayHoldDataUrl(text) || startsAsFile(text)
}

/** Whether JSON could hold a body: as text, or in an object with one of the keys that bodies stand under. */
export function mayHoldAssets(value: unknown): boolean {
  if (typeof value === 'string') return mayBecomeAsset(value)
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(mayHoldAssets)
  return Object.entries(value).some(([key, item]) => mayHoldBody(key, item) || mayHoldAssets(item))
}

/** Values in one result that are looked at one by one; a larger one takes the ordinary way. */
const MAX_VALUES = 500

/**
 * Whether a value is JSON as it stands, small, and without anything that could be a body or stand beside a reference: most
 * results of tools are, and need no walk.
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
    // A proxy may refuse to be looked at.
    return false
  }
}
