import { ByrefError } from '../errors.ts'
import { isPlainObject, type JsonObject, type JsonValue, putKey } from '../json/json.ts'
import type { OutputMethod } from '../messages/message.ts'
import { isOffloaded } from '../messages/offloaded.ts'
import { type FieldKey, indexOf } from '../refs/field-key.ts'
import { describeValue, MISSING } from '../refs/field-path.ts'
import { formatVariable } from '../refs/variable-ref.ts'
import {
  type Container,
  childOf,
  isContainer,
  isList,
  type Maybe,
  type Stored,
  valueAt,
  Wide,
} from './versioned.ts'

/** One write to a value of the board. */
export interface Write {
  kind: string
  instance?: string
  path: readonly FieldKey[]
  method: OutputMethod
  /** Absent only for `delete`. */
  data?: JsonValue
}

/** Maximum distance between a list's end and the index of a write. */
const MAX_GAP = 1000

/** Returns the value after a write. Call {@link checkWrite} first; then this does not throw. */
export function applyWrite(root: Maybe, write: Write, edit: EditOptions = PLAIN): Maybe {
  return setAt(root, write.path, written(valueAt(root, write.path), write, edit), edit)
}

/**
 * Throws `invalid_data` for an impossible write: through a scalar, into a value that is stored as an asset, a push onto
 * something other than a list, or a delete of nothing.
 */
export function checkWrite(root: Maybe, write: Write): void {
  const { path, method, data } = write
  const reject = (depth: number, value: Maybe, reason: string) => {
    const ref = formatVariable(write, path.slice(0, depth))
    const what = value === MISSING ? 'missing' : describeValue(isList(value) ? [] : value)
    throw new ByrefError('invalid_data', `${ref} is ${what}: ${reason}.`)
  }
  let current = root
  for (const [depth, key] of path.entries()) {
    if (isOffloaded(current)) throw storedAsAsset({ ...write, path: path.slice(0, depth) })
    if (current === MISSING && method !== 'delete') current = emptyFor(key)
    const index = isList(current) ? indexOf(key) : 0
    const isFar = isList(current) && index > current.length + MAX_GAP
    if (isFar || index < 0 || !(isContainer(current) || current === MISSING)) {
      reject(depth, current, `cannot write at ${JSON.stringify(key)}`)
    }
    current = childOf(current, key)
  }
  if (method === 'delete' ? current === MISSING : data === undefined) {
    reject(path.length, current, `there is nothing to ${method}`)
  }
  checkNotInAsset(current, write)
  const fitsList = isList(current) || current === MISSING
  const fitsText = typeof current === 'string' || current === MISSING
  const isJoin = Array.isArray(data) ? fitsList : fitsText && typeof data === 'string'
  if (method === 'push' && !fitsList) reject(path.length, current, 'push needs a list')
  if (method === 'concat' && !isJoin) {
    reject(path.length, current, 'concat needs two lists or two texts')
  }
}

/** Throws if a write would change a part of a value that is stored as an asset. */
function checkNotInAsset(current: Maybe, { path, ...write }: Write): void {
  const { method, data } = write
  if (method === 'set' || method === 'delete') return
  const appends = method === 'push' || method === 'concat'
  if (appends && isOffloaded(current)) throw storedAsAsset({ ...write, path })
  if (!mergeable(current, data)) return
  const stack = [{ base: current, patch: data as JsonObject, path }]
  for (let frame = stack.pop(); frame; frame = stack.pop()) {
    const { base, patch, path } = frame
    if (isOffloaded(base)) throw storedAsAsset({ ...write, path })
    if (method !== 'merge') return
    for (const [key, item] of Object.entries(patch)) {
      const child = childOf(base, key)
      if (!mergeable(child, item)) continue
      stack.push({ base: child, patch: item as JsonObject, path: [...path, key] })
    }
  }
}

function storedAsAsset({ path, ...root }: Write): ByrefError {
  const name = formatVariable(root, path)
  return new ByrefError(
    'invalid_data',
    `${name} is stored as an asset, and assets never change. Write a new value to ${name}, or write to another place.`,
  )
}

/** Returns the value at the written path after a write. */
function written(current: Maybe, { method, data }: Write, edit: EditOptions): Maybe {
  if (method === 'delete' || data === undefined) return MISSING
  if (method === 'merge') return mergeStored(current, data, edit)
  if (method === 'assign' && mergeable(current, data)) {
    let out = editable(current, edit)
    for (const [key, item] of Object.entries(data as object)) out = put(out, key, item, edit)
    return seal(out)
  }
  if (method === 'concat' && typeof data === 'string') {
    return typeof current === 'string' ? current + data : data
  }
  if (method !== 'push' && method !== 'concat') return data
  const list = current === MISSING ? [] : (current as Container)
  const items = method === 'push' ? [data] : (data as JsonValue[])
  return seal(append(editable(list, edit), items, edit))
}

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
function mergeStored(base: Maybe, patch: JsonValue, edit: EditOptions, depth = 0): Stored {
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

/** Whether both are objects, so that they are merged instead of replaced. A value stored as an asset replaces others. */
export function mergeable(base: Maybe, patch: unknown): base is Container {
  const isObject = base !== MISSING && isContainer(base) && !isList(base)
  return isObject && isPlainObject(patch) && !isOffloaded(patch)
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

/** The position at which containers change, and the number of entries from which they become wide. */
interface EditOptions {
  position: number
  /** Infinity keeps all containers plain JSON. */
  wide: number
}

/** Number of entries from which the board keeps versions per key instead of copying the container. */
export const WIDE = 32

/** Options for values that are entirely plain JSON. */
const PLAIN: EditOptions = { position: 0, wide: Number.POSITIVE_INFINITY }

/**
 * Returns a container that can be changed. A `Wide` is returned as it is. A small container is copied, and a large one
 * becomes a `Wide`.
 */
function editable(container: Container, { position, wide }: EditOptions): Container {
  if (container instanceof Wide) return container
  if (Object.keys(container).length >= wide) return widen(container, position)
  return Array.isArray(container) ? [...container] : { ...container }
}

/** Sets a key of an editable container and returns the container. It becomes wide if the value is wide. */
function put(
  target: Container,
  key: FieldKey,
  value: Stored,
  { position }: EditOptions,
): Container {
  const out = value instanceof Wide && !(target instanceof Wide) ? widen(target, position) : target
  if (out instanceof Wide) out.set(key, value, position)
  else if (Array.isArray(out)) out[indexOf(key)] = value
  else putKey(out as Record<string, Stored>, String(key), value)
  return out
}

/** Appends to an editable list. */
function append(target: Container, items: readonly JsonValue[], edit: EditOptions): Container {
  let out = target
  for (const item of items) out = put(out, isList(out) ? out.length : 0, item, edit)
  return out
}

/** Ends the edit: freezes a plain container. */
function seal(target: Container): Container {
  return target instanceof Wide ? target : Object.freeze(target)
}

/**
 * Returns the value with another value at a path, or with nothing there. Creates missing containers: a list if
 * the next key is an integer, otherwise an object. Fills the gap between a list's end and a higher index with
 * null.
 */
function setAt(root: Maybe, path: readonly FieldKey[], value: Maybe, edit: EditOptions): Maybe {
  const parents: Container[] = []
  let current = root
  for (const key of path) {
    const container = current === MISSING ? emptyFor(key) : current
    parents.push(container as Container)
    current = childOf(container, key)
  }
  let next = value
  for (let depth = path.length - 1; depth >= 0; depth--) {
    const key = path[depth] as FieldKey
    let out = editable(parents[depth] as Container, edit)
    if (next === MISSING) {
      remove(out, key, edit)
    } else {
      while (isList(out) && out.length < indexOf(key)) out = append(out, [null], edit)
      out = put(out, key, next, edit)
    }
    next = seal(out)
  }
  return next
}

/** Returns the container to create when a key is written and nothing exists. */
function emptyFor(key: FieldKey): Container {
  return typeof key === 'number' ? [] : {}
}

function remove(target: Container, key: FieldKey, { position }: EditOptions): void {
  if (target instanceof Wide) target.delete(key, position)
  else if (Array.isArray(target)) target.splice(indexOf(key), 1)
  else delete (target as Record<string, Stored>)[key]
}

function widen(container: Container, position: number): Container {
  const wide = new Wide(Array.isArray(container))
  for (const [key, value] of Object.entries(container)) wide.set(key, value, position)
  return wide
}
