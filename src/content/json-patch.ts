import { ByrefError } from '../errors.ts'
import { type FieldKey, indexOf } from '../refs/field-key.ts'
import { MISSING, ownField } from '../refs/field-path.ts'
import { PLAIN, setAt } from './draft.ts'
import { isPlainObject, type JsonValue } from './json.ts'

/** One operation of a JSON Patch (RFC 6902), of those that are made here. `path` is a JSON Pointer (RFC 6901). */
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
 * What turns one value into another, as JSON Patch: between two snapshots of a board it is AG-UI's `STATE_DELTA`. Parts
 * that both share are not looked into, so it costs the containers on the way to the changes. Any depth.
 */
export function jsonPatch(before: JsonValue, after: JsonValue): PatchOperation[] {
  const operations: PatchOperation[] = []
  const stack: { from: JsonValue; to: JsonValue; path: FieldKey[] }[] = [
    { from: before, to: after, path: [] },
  ]
  for (let pair = stack.pop(); pair; pair = stack.pop()) {
    const { from, to, path } = pair
    const at = (key: FieldKey) => toPointer([...path, key])
    if (from === to) continue
    if (Array.isArray(from) && Array.isArray(to)) {
      const { start, gone, come } = changedSpan(from, to)
      for (let i = 0; i < Math.min(gone, come); i++) {
        stack.push({ from: from[start + i], to: to[start + i], path: [...path, start + i] })
      }
      for (let i = gone - 1; i >= come; i--) operations.push({ op: 'remove', path: at(start + i) })
      for (let i = gone; i < come; i++) {
        operations.push({ op: 'add', path: at(start + i), value: to[start + i] })
      }
    } else if (isPlainObject(from) && isPlainObject(to)) {
      for (const key of Object.keys(from)) {
        if (!Object.hasOwn(to, key)) operations.push({ op: 'remove', path: at(key) })
      }
      for (const [key, value] of Object.entries(to) as [string, JsonValue][]) {
        const old = ownField(from, key)
        if (old === MISSING) operations.push({ op: 'add', path: at(key), value })
        else stack.push({ from: old as JsonValue, to: value, path: [...path, key] })
      }
    } else {
      operations.push({ op: 'replace', path: toPointer(path), value: to })
    }
  }
  return operations
}

/** The part of two lists between what they have in common at their start and their end. */
function changedSpan(from: readonly JsonValue[], to: readonly JsonValue[]) {
  const shorter = Math.min(from.length, to.length)
  let start = 0
  while (start < shorter && from[start] === to[start]) start++
  let end = 0
  while (end < shorter - start && from.at(-1 - end) === to.at(-1 - end)) end++
  return { start, gone: from.length - start - end, come: to.length - start - end }
}

/**
 * The document after the operations, in order. The document itself stays as it is, unchanged parts are shared. Throws
 * `invalid_data` for a path that leads nowhere.
 */
export function applyPatch(document: JsonValue, operations: readonly PatchOperation[]): JsonValue {
  let result = document
  for (const operation of operations) {
    const path = fromPointer(operation.path)
    const key = path.pop()
    let parent: unknown = result
    for (const step of path) parent = ownField(parent, step)
    const value = operation.op === 'remove' ? MISSING : operation.value
    const isLost = operation.op !== 'add' && key !== undefined && ownField(parent, key) === MISSING
    if (isLost || (key !== undefined && typeof parent !== 'object')) {
      throw new ByrefError(
        'invalid_data',
        `${operation.path} leads nowhere: start again from a snapshot.`,
      )
    }
    if (Array.isArray(parent) && operation.op === 'add') {
      const list = parent.toSpliced(key === '-' ? parent.length : indexOf(key), 0, operation.value)
      result = setAt(result, path, list, PLAIN) as JsonValue
    } else {
      const next = setAt(result, key === undefined ? [] : [...path, key], value, PLAIN)
      result = next === MISSING ? null : (next as JsonValue)
    }
  }
  return result
}
