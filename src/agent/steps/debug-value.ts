import { createHash } from 'node:crypto'
import { Branch, copyTree } from '../../content/copy-tree.ts'
import type { JsonValue } from '../../content/json.ts'

/**
 * A value as people see it for debugging: JSON with every body replaced by its size and digest (message-metadata.md's
 * `debug`; spec M6: no bytes). Functions are left out.
 */
export function debugValue(root: unknown): JsonValue {
  return copyTree(root, (value) => {
    if (value instanceof Uint8Array) {
      return { bytes: value.length, sha256: createHash('sha256').update(value).digest('hex') }
    }
    if (value instanceof URL) return value.href
    if (typeof value === 'function' || value === undefined) return undefined
    if (typeof value !== 'object' || value === null) return value as JsonValue
    const isList = Array.isArray(value)
    return new Branch(value, isList, isList ? value.entries() : Object.entries(value))
  })
}
