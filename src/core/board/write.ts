import { ByrefError } from '../errors.ts'
import type { JsonValue } from '../json/json.ts'
import type { OutputMethod } from '../messages/message.ts'
import { type FieldKey, indexOf } from '../refs/field-key.ts'
import { describeValue, MISSING } from '../refs/field-path.ts'
import { formatVariable } from '../refs/variable-ref.ts'
import {
  append,
  type EditOptions,
  editable,
  emptyFor,
  mergeable,
  mergeStored,
  PLAIN,
  put,
  seal,
  setAt,
} from './merge.ts'
import { type Container, childOf, isContainer, isList, type Maybe, valueAt } from './versioned.ts'

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
  return setAt(root, write.path, act(valueAt(root, write.path), write, edit), edit)
}

/**
 * Throws `invalid_data` for an impossible write: through a scalar, a push onto something other than a list, or
 * a delete of nothing.
 */
export function checkWrite(root: Maybe, write: Write): void {
  const { path, method, data } = write
  const refuse = (depth: number, value: Maybe, reason: string) => {
    const ref = formatVariable(write, path.slice(0, depth))
    const what = value === MISSING ? 'missing' : describeValue(isList(value) ? [] : value)
    throw new ByrefError('invalid_data', `${ref} is ${what}: ${reason}.`)
  }
  let current = root
  for (const [depth, key] of path.entries()) {
    if (current === MISSING && method !== 'delete') current = emptyFor(key)
    const index = isList(current) ? indexOf(key) : 0
    const isFar = isList(current) && index > current.length + MAX_GAP
    if (isFar || index < 0 || !(isContainer(current) || current === MISSING)) {
      refuse(depth, current, `cannot write at ${JSON.stringify(key)}`)
    }
    current = childOf(current, key)
  }
  if (method === 'delete' ? current === MISSING : data === undefined) {
    refuse(path.length, current, `there is nothing to ${method}`)
  }
  const fitsList = isList(current) || current === MISSING
  const fitsText = typeof current === 'string' || current === MISSING
  const isJoin = Array.isArray(data) ? fitsList : fitsText && typeof data === 'string'
  if (method === 'push' && !fitsList) refuse(path.length, current, 'push needs a list')
  if (method === 'concat' && !isJoin) {
    refuse(path.length, current, 'concat needs two lists or two texts')
  }
}

function act(current: Maybe, { method, data }: Write, edit: EditOptions): Maybe {
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
