import { ByrefError } from '../errors.ts'
import type { FieldKey } from '../refs/field-key.ts'
import { isPlainObject, type JsonValue, putKey } from './json.ts'

/** One operation of a JSON Patch (RFC 6902), of those that the board makes. `path` is a JSON Pointer (RFC 6901). */
export type PatchOperation =
  | { op: 'add' | 'replace'; path: string; value: JsonValue }
  | { op: 'remove'; path: string }

/** The JSON Pointer of a path. */
export function toPointer(path: readonly FieldKey[]): string {
  return path.map((key) => `/${String(key).replace(/~/g, '~0').replace(/\//g, '~1')}`).join('')
}

/** The keys of a JSON Pointer. */
export function fromPointer(pointer: string): string[] {
  const keys = pointer.split('/').slice(1)
  return keys.map((key) => key.replace(/~1/g, '/').replace(/~0/g, '~'))
}

/**
 * The document after the operations, in order; the document itself stays as it is, unchanged parts are shared.
 * Throws `invalid_data` for a path that leads nowhere.
 */
export function applyPatch(document: JsonValue, operations: readonly PatchOperation[]): JsonValue {
  let result = document
  for (const operation of operations) {
    result = applyOperation(result, operation)
  }
  return result
}

function applyOperation(root: JsonValue, operation: PatchOperation): JsonValue {
  const keys = fromPointer(operation.path)
  const last = keys.pop()
  if (last === undefined) return operation.op === 'remove' ? null : operation.value
  const copy = shallowCopy(root, operation.path)
  let parent = copy
  for (const key of keys) {
    const child = shallowCopy((parent as Record<string, JsonValue>)[key], operation.path)
    if (Array.isArray(parent)) parent[Number(key)] = child
    else putKey(parent, key, child)
    parent = child
  }
  if (Array.isArray(parent)) {
    const index = last === '-' ? parent.length : Number(last)
    const value = operation.op === 'remove' ? [] : [operation.value]
    parent.splice(index, operation.op === 'add' ? 0 : 1, ...value)
  } else if (operation.op === 'remove') {
    delete parent[last]
  } else {
    putKey(parent, last, operation.value)
  }
  return copy
}

function shallowCopy(value: unknown, path: string): Record<string, JsonValue> | JsonValue[] {
  if (Array.isArray(value)) return [...value]
  if (isPlainObject(value)) return { ...value } as Record<string, JsonValue>
  throw new ByrefError(
    'invalid_data',
    `The patch leads nowhere at ${path}: start again from a snapshot.`,
  )
}
