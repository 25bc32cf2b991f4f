import { type FieldKey, indexOf } from '../refs/field-key.ts'
import { MISSING } from '../refs/field-path.ts'
import type { JsonObject, JsonValue } from './json.ts'
import { type PatchOperation, toPointer } from './json-patch.ts'
import { mergeable } from './merge.ts'
import { childOf, isList, listLength, type Maybe } from './versioned.ts'
import { applyWrite, type Write } from './write.ts'

/** What a write that {@link checkWrite} lets through changes, as JSON Patch; `base` is the path of its root. */
export function writePatch(root: Maybe, write: Write, base: readonly FieldKey[]): PatchOperation[] {
  const { path } = write
  let current = root
  for (let depth = 0; depth < path.length && current !== MISSING; depth++) {
    const key = path[depth] as FieldKey
    const child = childOf(current, key)
    if (child === MISSING) {
      const value = made({ ...write, path: path.slice(depth + 1) })
      return addTo(current, [...base, ...path.slice(0, depth)], key, value)
    }
    current = child
  }
  if (current === MISSING) return [{ op: 'add', path: toPointer(base), value: made(write) }]
  return changes(current, write, [...base, ...path])
}

/** What a write makes where nothing is. */
function made(write: Write): JsonValue {
  return applyWrite(MISSING, write, PLAIN) as JsonValue
}

const PLAIN = { position: 0, wide: Number.POSITIVE_INFINITY }

function changes(current: Maybe, { method, data }: Write, at: FieldKey[]): PatchOperation[] {
  const path = toPointer(at)
  if (method === 'delete') return [{ op: 'remove', path }]
  if (data === undefined) return []
  if ((method === 'merge' || method === 'assign') && mergeable(current, data)) {
    return mergeChanges(current, data as JsonObject, at, method === 'merge')
  }
  if (method === 'push') return [{ op: 'add', path: `${path}/-`, value: data }]
  if (method === 'concat' && Array.isArray(data)) {
    return data.map((value) => ({ op: 'add', path: `${path}/-`, value }))
  }
  const value = method === 'concat' ? `${String(current)}${String(data)}` : data
  return [{ op: 'replace', path, value }]
}

function mergeChanges(
  current: Maybe,
  data: JsonObject,
  at: FieldKey[],
  deep: boolean,
): PatchOperation[] {
  const operations: PatchOperation[] = []
  const stack: { current: Maybe; data: JsonObject; at: FieldKey[] }[] = [{ current, data, at }]
  for (let frame = stack.pop(); frame; frame = stack.pop()) {
    for (const [key, value] of Object.entries(frame.data)) {
      const child = childOf(frame.current, key)
      const path = [...frame.at, key]
      if (deep && mergeable(child, value)) {
        stack.push({ current: child, data: value as JsonObject, at: path })
      } else {
        const op = child === MISSING ? 'add' : 'replace'
        operations.push({ op, path: toPointer(path), value })
      }
    }
  }
  return operations
}

function addTo(
  container: Maybe,
  at: FieldKey[],
  key: FieldKey,
  value: JsonValue,
): PatchOperation[] {
  if (!isList(container)) return [{ op: 'add', path: toPointer([...at, key]), value }]
  const gap = indexOf(key) - listLength(container)
  const path = `${toPointer(at)}/-`
  const nulls = Array.from({ length: gap }, () => ({ op: 'add' as const, path, value: null }))
  return [...nulls, { op: 'add', path, value }]
}
