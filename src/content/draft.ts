import { type FieldKey, indexOf } from '../refs/field-key.ts'
import { type JsonObject, type JsonValue, putKey } from './json.ts'
import {
  type Container,
  isList,
  isWide,
  listLength,
  type Stored,
  WideList,
  WideObject,
} from './versioned.ts'

/** How containers change: at which position, and from how many entries on they become wide. */
export interface Drafting {
  position: number
  /** Default use: {@link WIDE}. Infinity keeps everything plain JSON. */
  wide: number
}

/** From this many entries on, a container keeps versions per key instead of being copied. */
export const WIDE = 32

/** A container that may be changed: a wide one itself, a small one as a copy, a plain one of many entries as a wide one. */
export function draft(container: Container, { position, wide }: Drafting): Container {
  if (isWide(container)) return container
  const size = Array.isArray(container) ? container.length : Object.keys(container as object).length
  if (size >= wide) return widen(container, position)
  return Array.isArray(container) ? [...container] : { ...(container as JsonObject) }
}

/** Sets a key of a draft and gives the draft, which becomes wide where the value is. */
export function put(
  target: Container,
  key: FieldKey,
  value: Stored,
  { position }: Drafting,
): Container {
  if (!isWide(target)) {
    if (isWide(value)) return put(widen(target, position), key, value, { position, wide: 0 })
    if (Array.isArray(target)) target[indexOf(key)] = value
    else putKey(target as Record<string, JsonValue>, String(key), value)
  } else if (target instanceof WideList) {
    target.set(indexOf(key), value, position)
  } else {
    target.set(String(key), value, position)
  }
  return target
}

/** Takes a key out of a draft; items after it move up. */
export function remove(target: Container, key: FieldKey, { position }: Drafting): void {
  if (target instanceof WideList) target.delete(indexOf(key), position)
  else if (target instanceof WideObject) target.delete(String(key), position)
  else if (Array.isArray(target)) target.splice(indexOf(key), 1)
  else delete (target as Record<string, JsonValue>)[String(key)]
}

/** Appends to a draft of a list. */
export function append(target: Container, items: readonly Stored[], drafting: Drafting): Container {
  let list = target
  for (const item of items) list = put(list, isList(list) ? listLength(list) : 0, item, drafting)
  return list
}

/** Ends a draft: what is plain is frozen. */
export function seal<T extends Container>(target: T): T {
  return isWide(target) ? target : Object.freeze(target)
}

function widen(container: Container, position: number): WideObject | WideList {
  const wide = Array.isArray(container) ? new WideList() : new WideObject()
  for (const [key, value] of Object.entries(container as Record<string, JsonValue>)) {
    put(wide, key, value, { position, wide: 0 })
  }
  return wide
}
