import { isPlainObject, type JsonObject, type JsonValue } from '../json/json.ts'
import type { FieldKey } from '../refs/field-key.ts'
import { MISSING } from '../refs/field-path.ts'
import { type EditOptions, editable, PLAIN, put, seal, setAt } from './edit-container.ts'
import {
  type Container,
  childOf,
  isContainer,
  isList,
  type Maybe,
  type Stored,
} from './versioned.ts'

/**
 * From this depth on, merging uses a loop instead of recursion, because data may be nested arbitrarily deeply.
 */
const MAX_DEPTH = 100

/**
 * Merges one value into another. Objects are merged deeply; lists and scalars are replaced; null is a value.
 * Neither input is changed: unchanged parts are shared, and changed parts are frozen. Accepts any depth and
 * any key.
 */
export function merge(base: JsonValue, patch: JsonValue): JsonValue {
  return mergeStored(base, patch, PLAIN) as JsonValue
}

/** Like {@link merge}, for stored values of the board. */
export function mergeStored(base: Maybe, patch: JsonValue, edit: EditOptions, depth = 0): Stored {
  if (!mergeable(base, patch)) return patch
  if (depth === MAX_DEPTH) {
    let out: Stored = base
    for (const { path, value } of mergeChanges(base, patch)) {
      out = setAt(out, path, value, edit) as Stored
    }
    return out
  }
  const fields = patch as JsonObject
  let out = editable(base, edit)
  for (const key of Object.keys(fields)) {
    const item = fields[key] as JsonValue
    const isScalar = typeof item !== 'object' || item === null
    const value = isScalar ? item : mergeStored(childOf(out, key), item, edit, depth + 1)
    out = put(out, key, value, edit)
  }
  return seal(out)
}

/** Whether both are objects, so that they are merged instead of replaced. */
export function mergeable(base: Maybe, patch: unknown): base is Container {
  return base !== MISSING && isContainer(base) && !isList(base) && isPlainObject(patch)
}

/** Returns the individual writes that a merge consists of. */
export function mergeChanges(base: Maybe, patch: JsonValue, isDeep = true) {
  const changes: { path: FieldKey[]; value: JsonValue }[] = []
  const stack: { base: Maybe; patch: JsonValue; path: FieldKey[] }[] = [{ base, patch, path: [] }]
  for (let frame = stack.pop(); frame; frame = stack.pop()) {
    for (const [key, value] of Object.entries(frame.patch as JsonObject)) {
      const child = childOf(frame.base, key)
      const path = [...frame.path, key]
      if (isDeep && mergeable(child, value)) stack.push({ base: child, patch: value, path })
      else changes.push({ path, value })
    }
  }
  return changes
}
