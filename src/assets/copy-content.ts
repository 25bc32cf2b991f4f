import { isPlainObject, putKey } from '../core/json/json.ts'

/** A container that is being copied, and its copy. */
type Copying =
  | [source: readonly unknown[], copy: unknown[]]
  | [source: ReadonlyMap<unknown, unknown>, copy: Map<unknown, unknown>]
  | [source: ReadonlySet<unknown>, copy: Set<unknown>]
  | [source: Record<string, unknown>, copy: Record<string, unknown>]

/**
 * Copies content so that its receiver may change it. Containers, bytes and dates are copied; live objects are shared.
 * Content may have any depth, and must not have cycles.
 */
export function copyContent(value: unknown): unknown {
  const open: Copying[] = []
  const copyOf = (item: unknown): unknown => {
    if (typeof item !== 'object' || item === null) return item
    const copying = emptyCopy(item)
    if (copying === null) return copyLeaf(item)
    open.push(copying)
    return copying[1]
  }
  const copy = copyOf(value)
  for (let next = open.pop(); next; next = open.pop()) fill(next, copyOf)
  return copy
}

function emptyCopy(value: object): Copying | null {
  if (Array.isArray(value)) return [value, []]
  if (value instanceof Map) return [value, new Map()]
  if (value instanceof Set) return [value, new Set()]
  return isPlainObject(value) ? [value, {}] : null
}

function copyLeaf(value: object): object {
  if (value instanceof Date) return new Date(value)
  const isBinary = ArrayBuffer.isView(value) || value instanceof ArrayBuffer
  return isBinary ? structuredClone(value) : value
}

function fill([source, copy]: Copying, copyOf: (item: unknown) => unknown): void {
  if (Array.isArray(copy)) {
    for (const item of source as readonly unknown[]) copy.push(copyOf(item))
  } else if (copy instanceof Map) {
    for (const [key, item] of source as Map<unknown, unknown>) copy.set(copyOf(key), copyOf(item))
  } else if (copy instanceof Set) {
    for (const item of source as Set<unknown>) copy.add(copyOf(item))
  } else {
    const fields = source as Record<string, unknown>
    for (const key of Object.keys(fields)) putKey(copy, key, copyOf(fields[key]))
  }
}
