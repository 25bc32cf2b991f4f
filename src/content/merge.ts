import { MISSING } from '../refs/field-path.ts'
import { type Drafting, draft, put, seal } from './draft.ts'
import { isPlainObject, type JsonObject, type JsonValue } from './json.ts'
import {
  type Container,
  childOf,
  isContainer,
  isList,
  type Maybe,
  type Stored,
} from './versioned.ts'

/**
 * One value merged into another (spec D2): objects deeply, lists and scalars replaced, null is a value. Neither is
 * changed; what did not change is shared, and what did is frozen. Any depth, any key.
 */
export function merge(base: JsonValue, patch: JsonValue): JsonValue {
  return mergeStored(base, patch, { position: 0, wide: Number.POSITIVE_INFINITY }) as JsonValue
}

/** The same for values on the board. */
export function mergeStored(
  base: Maybe,
  patch: JsonValue,
  drafting: Drafting,
  depth: number = 0,
): Stored {
  if (!mergeable(base, patch)) return patch
  if (depth === MAX_DEPTH) return mergeDeep(base, patch, drafting)
  let out = draft(base, drafting)
  const fields = patch as JsonObject
  for (const key of Object.keys(fields)) {
    const item = fields[key] as JsonValue
    const isScalar = typeof item !== 'object' || item === null
    const value = isScalar ? item : mergeStored(childOf(out, key), item, drafting, depth + 1)
    out = put(out, key, value, drafting)
  }
  return seal(out)
}

/** Whether both are objects, so that they meet instead of the second taking the place of the first. */
export function mergeable(base: Maybe, patch: unknown): base is Container {
  return base !== MISSING && isContainer(base) && !isList(base) && isPlainObject(patch)
}

/** From this depth on, without the engine's stack: data may be nested without end. */
const MAX_DEPTH = 100

interface Frame {
  out: Container
  patch: JsonObject
  keys: string[]
  next: number
}

function mergeDeep(base: Container, patch: JsonValue, drafting: Drafting): Stored {
  const stack: Frame[] = [open(base, patch, drafting)]
  for (;;) {
    const frame = stack.at(-1) as Frame
    if (frame.next === frame.keys.length) {
      const done = seal(frame.out)
      stack.pop()
      const parent = stack.at(-1)
      if (!parent) return done
      parent.out = put(parent.out, parent.keys[parent.next - 1] as string, done, drafting)
      continue
    }
    const key = frame.keys[frame.next++] as string
    const item = frame.patch[key] as JsonValue
    const old = childOf(frame.out, key)
    if (mergeable(old, item)) stack.push(open(old, item, drafting))
    else frame.out = put(frame.out, key, item, drafting)
  }
}

function open(base: Container, patch: JsonValue, drafting: Drafting): Frame {
  const fields = patch as JsonObject
  return { out: draft(base, drafting), patch: fields, keys: Object.keys(fields), next: 0 }
}
