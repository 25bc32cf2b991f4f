import { type JsonValue, putKey } from '../json/json.ts'
import { type FieldKey, indexOf } from '../refs/field-key.ts'
import { MISSING } from '../refs/field-path.ts'
import { type Container, childOf, isList, type Maybe, type Stored, Wide } from './versioned.ts'

/** How containers change: at which position, and from how many entries on they become wide. */
export interface EditOptions {
  position: number
  /** Infinity keeps everything plain JSON. */
  wide: number
}

/** From this many entries on, the board keeps versions of a container per key instead of copying it. */
export const WIDE = 32

/** For values that are plain JSON throughout. */
export const PLAIN: EditOptions = { position: 0, wide: Number.POSITIVE_INFINITY }

/** A container that may be changed: a wide one itself, a small one as a copy, a plain one of many entries as a wide one. */
export function editable(container: Container, { position, wide }: EditOptions): Container {
  if (container instanceof Wide) return container
  if (Object.keys(container).length >= wide) return widen(container, position)
  return Array.isArray(container) ? [...container] : { ...container }
}

/** Sets a key of an editable container and gives the container, which becomes wide where the value is. */
export function put(
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
export function append(
  target: Container,
  items: readonly JsonValue[],
  edit: EditOptions,
): Container {
  let out = target
  for (const item of items) out = put(out, isList(out) ? out.length : 0, item, edit)
  return out
}

/** Ends the editing: what is plain is frozen. */
export function seal(target: Container): Container {
  return target instanceof Wide ? target : Object.freeze(target)
}

/**
 * The value with another one at a path, or with nothing there. Missing containers are made: a list where the next key
 * is an integer; what lies between the end of a list and an index behind it is null.
 */
export function setAt(
  root: Maybe,
  path: readonly FieldKey[],
  value: Maybe,
  edit: EditOptions,
): Maybe {
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

/** What is made where a key is written and nothing is. */
export function emptyFor(key: FieldKey): Container {
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
