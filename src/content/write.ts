import { ByrefError } from '../errors.ts'
import { type FieldKey, indexOf } from '../refs/field-key.ts'
import { describeValue, MISSING } from '../refs/field-path.ts'
import { formatVariableRef } from '../refs/variable-ref.ts'
import { append, type Drafting, draft, put, remove, seal } from './draft.ts'
import type { JsonObject, JsonValue } from './json.ts'
import { mergeable, mergeStored } from './merge.ts'
import type { OutputMethod } from './message.ts'
import {
  type Container,
  childOf,
  isContainer,
  isList,
  isWide,
  listLength,
  type Maybe,
  type Stored,
  toJson,
} from './versioned.ts'

/** One write to a value of the board (spec D3). */
export interface Write {
  kind: string
  instance?: string
  path: readonly FieldKey[]
  method: OutputMethod
  /** Absent for `delete` only. */
  data?: JsonValue
}

/** How far behind its end a list may be written; the items between become null. */
const MAX_GAP = 1000

/**
 * The value after a write. Missing containers are made: a list where the next key is an integer. Call
 * {@link checkWrite} first: what that lets through does not throw here.
 */
export function applyWrite(root: Maybe, write: Write, drafting: Drafting): Maybe {
  const parents: Container[] = []
  let current = root
  for (const key of write.path) {
    const container = current === MISSING ? emptyFor(key) : current
    parents.push(container as Container)
    current = childOf(container, key)
  }
  let value = act(current, write, drafting)
  for (let depth = write.path.length - 1; depth >= 0; depth--) {
    const key = write.path[depth] as FieldKey
    let parent = draft(parents[depth] as Container, drafting)
    if (value === MISSING) remove(parent, key, drafting)
    else parent = put(fill(parent, key, drafting), key, value, drafting)
    value = seal(parent)
  }
  return value
}

/** Throws `invalid_data` for a write that cannot be done: through a scalar, push on what is no list, nothing to delete. */
export function checkWrite(root: Maybe, write: Write): void {
  const { path, method, data } = write
  if (data === undefined && method !== 'delete')
    throw refuse(write, path, `has no data to ${method}`)
  let current = root
  for (const [depth, key] of path.entries()) {
    if (current === MISSING) {
      if (method === 'delete') break
      current = emptyFor(key)
    }
    if (!isContainer(current)) {
      const what = `is ${describe(current)}: a write cannot go through it to ${JSON.stringify(key)}`
      throw refuse(write, path.slice(0, depth), what)
    }
    if (isList(current)) checkIndex(write, depth, listLength(current))
    current = childOf(current, key)
  }
  if (method === 'delete' && current === MISSING)
    throw refuse(write, path, 'has no value to delete')
  if (method === 'push' && !isList(current) && current !== MISSING) {
    throw refuse(write, path, `is ${describe(current)}: push needs a list`)
  }
  if (method === 'concat' && !concatenable(current, data)) {
    throw refuse(
      write,
      path,
      `is ${describe(current)}: concat joins a list to a list, or text to text`,
    )
  }
}

function checkIndex(write: Write, depth: number, length: number): void {
  const key = write.path[depth] as FieldKey
  const index = indexOf(key)
  if (index !== -1 && index <= length + MAX_GAP) return
  const what =
    index === -1 ? `${JSON.stringify(key)} is no index` : `${index} is far behind its end`
  throw refuse(write, write.path.slice(0, depth), `is a list of ${length} items: ${what}`)
}

function act(current: Maybe, { method, data }: Write, drafting: Drafting): Maybe {
  if (method === 'delete' || data === undefined) return MISSING
  switch (method) {
    case 'set':
      return data
    case 'merge':
      return mergeStored(current, data, drafting)
    case 'assign': {
      if (!mergeable(current, data)) return data
      let out = draft(current, drafting)
      for (const [key, item] of Object.entries(data as JsonObject))
        out = put(out, key, item, drafting)
      return seal(out)
    }
    case 'push':
      return appended(current === MISSING ? [] : (current as Container), [data], drafting)
    case 'concat':
      if (current === MISSING) return data
      if (typeof current === 'string') return current + data
      return appended(current as Container, data as JsonValue[], drafting)
  }
}

function appended(list: Container, items: readonly JsonValue[], drafting: Drafting): Stored {
  return seal(append(draft(list, drafting), items, drafting))
}

function concatenable(current: Maybe, data: unknown): boolean {
  if (current === MISSING) return typeof data === 'string' || Array.isArray(data)
  return isList(current)
    ? Array.isArray(data)
    : typeof current === 'string' && typeof data === 'string'
}

function emptyFor(key: FieldKey): Container {
  return typeof key === 'number' ? [] : {}
}

/** Nulls up to the index, where a list is written behind its end. */
function fill(list: Container, key: FieldKey, drafting: Drafting): Container {
  if (!isList(list)) return list
  const gap = indexOf(key) - listLength(list)
  return gap > 0 ? append(list, Array(gap).fill(null), drafting) : list
}

function describe(value: Maybe): string {
  if (value === MISSING) return 'not there yet'
  return describeValue(isWide(value) ? toJson(value) : value)
}

function refuse({ kind, instance }: Write, path: readonly FieldKey[], reason: string): ByrefError {
  const ref = formatVariableRef({ type: 'variable', kind, instance, path: [...path] })
  return new ByrefError('invalid_data', `${ref} ${reason}.`)
}
