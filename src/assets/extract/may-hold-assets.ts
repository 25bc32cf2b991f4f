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

/** Up to here, values are examined strictly: no getter is called, and hidden fields are found. */
const FEW_VALUES = 500

/**
 * Returns whether a value is plain JSON without bodies and references. Most results of tools are. This test takes a tenth of
 * the time of the usual walk, because it creates no objects. In a large value, getters and hidden fields count as fields are
 * read by JSON.
 */
export function isPlainJson(value: unknown): boolean {
  const strict = new PlainTest(FEW_VALUES, { isStrict: true })
  try {
    if (strict.accepts(value, 0)) return true
    return strict.left < 0 && new PlainTest(MAX_VALUES, { isStrict: false }).accepts(value, 0)
  } catch {
    // A Proxy may throw.
    return false
  }
}

class PlainTest {
  /** How many more values may be examined. */
  left: number
  readonly #isStrict: boolean

  constructor(left: number, { isStrict }: { isStrict: boolean }) {
    this.left = left
    this.#isStrict = isStrict
  }

  accepts(item: unknown, level: number): boolean {
    if (--this.left < 0) return false
    if (typeof item === 'string') return !mayBecomeAsset(item)
    if (typeof item !== 'object' || item === null) {
      return item === null || typeof item === 'boolean' || Number.isFinite(item)
    }
    if (level === MAX_LEVELS) return false
    if (Array.isArray(item)) return this.#acceptsAll(item, level)
    const prototype: unknown = Object.getPrototypeOf(item)
    if (prototype !== Object.prototype && prototype !== null) return false
    const fields = item as Record<string, unknown>
    return this.#isStrict
      ? this.#hasPlainFields(fields, level)
      : this.#readsPlainFields(fields, level)
  }

  #acceptsAll(list: readonly unknown[], level: number): boolean {
    if (list.length > this.left) this.left = -1
    for (let i = 0; i < list.length; i++) if (!this.accepts(list[i], level + 1)) return false
    return true
  }

  #hasPlainFields(item: Record<string, unknown>, level: number): boolean {
    return Reflect.ownKeys(item).every((key) => {
      const field = Object.getOwnPropertyDescriptor(item, key)
      const isOwn = typeof key === 'string' && field?.enumerable && 'value' in field
      return isOwn && isPlainField(key, field.value) && this.accepts(field.value, level + 1)
    })
  }

  #readsPlainFields(item: Record<string, unknown>, level: number): boolean {
    for (const key in item) {
      const field = item[key]
      if (!isPlainField(key, field) || !this.accepts(field, level + 1)) return false
    }
    return true
  }
}

function isPlainField(key: string, field: unknown): boolean {
  return key !== 'assetRef' && !mayHoldBody(key, field)
}
