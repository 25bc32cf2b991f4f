import { createHash } from 'node:crypto'

/**
 * A value as it is kept for debugging: JSON with every body replaced by its size and digest (message-metadata.md's
 * `debug`; spec M6: no bytes). Signals and functions are left out.
 */
export function debugValue(value: unknown): unknown {
  if (value instanceof Uint8Array) {
    const sha256 = createHash('sha256').update(value).digest('hex')
    return { bytes: value.length, sha256 }
  }
  if (value instanceof URL) return value.href
  if (Array.isArray(value)) return value.map(debugValue)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined && typeof item !== 'function')
      .map(([key, item]) => [key, debugValue(item)]),
  )
}
