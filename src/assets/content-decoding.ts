import { ByrefError } from '../core/errors.ts'
import { putKey } from '../core/json/json.ts'
import { copyBytes } from './bodies/body.ts'
import type { BodyDigest } from './bodies/digest.ts'

/** The key that marks an object in encoded content. The object replaces a value that JSON cannot represent. */
export const MARK = '$byref'

/** A mark. A `record` is a plain object that has the key itself. */
export type Mark =
  | ({ [MARK]: 'bytes' } & ContentLeaf)
  | { [MARK]: 'live'; index: number }
  | { [MARK]: 'record'; value: Record<string, unknown> }
  | { [MARK]: 'map'; value: [unknown, unknown][] }
  | { [MARK]: 'set'; value: unknown[] }
  | { [MARK]: 'date'; value: string | null }
  | { [MARK]: 'url' | 'number' | 'bigint'; value: string }

/** A leaf whose bytes are in a separate body. */
interface ContentLeaf extends BodyDigest {
  /** The type of the value: `Uint8Array`, `Float32Array`, `ArrayBuffer`, `Blob` … */
  as: string
  mime?: string
}

/** The constructors of typed arrays by name. Node 22 has no `Float16Array`. */
export const TYPED_ARRAYS: Readonly<
  Record<string, new (buffer: ArrayBuffer) => ArrayBufferView<ArrayBuffer>>
> = {
  Uint8Array,
  Uint8ClampedArray,
  Int8Array,
  Uint16Array,
  Int16Array,
  Uint32Array,
  Int32Array,
  BigUint64Array,
  BigInt64Array,
  Float32Array,
  Float64Array,
  ...(typeof Float16Array === 'function' && { Float16Array }),
}

/** Returns the mark that a value is, or null. */
export function markOf(value: unknown): Mark | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  return Object.hasOwn(value, MARK) ? (value as Mark) : null
}

/** The source of values that are not in the JSON. */
export interface ContentSource {
  bytes(leaf: ContentLeaf): Promise<Uint8Array>
  object(index: number): Promise<unknown>
}

/** A mark and its position. */
interface MarkPlace {
  holder: Record<string, unknown>
  key: string
  mark: Mark
}

/** Decodes content: replaces every mark in `value`, at any depth, by its value. Changes `value`'s containers. */
export async function decodeContent(value: unknown, source: ContentSource): Promise<unknown> {
  const root = { value }
  // From the innermost outwards, because a Map is made of entries that are already decoded.
  for (const { holder, key, mark } of marksIn(root).reverse()) {
    putKey(holder, key, await decodeMark(mark, source))
  }
  return root.value
}

/**
 * Returns the container that a mark represents, with its fields still encoded. Null if the mark itself must be decoded.
 */
export function containerOf(mark: Mark): object | null {
  switch (mark[MARK]) {
    case 'record':
      return mark.value
    case 'map':
      return new Map(mark.value)
    case 'set':
      return new Set(mark.value)
    default:
      return null
  }
}

/** Returns all marks below the root, outer ones first. */
function marksIn(root: object): MarkPlace[] {
  const found: MarkPlace[] = []
  const open: object[] = [root]
  for (let at = open.pop(); at; at = open.pop()) {
    const holder = at as Record<string, unknown>
    for (const key of Object.keys(holder)) {
      const child = holder[key]
      if (typeof child !== 'object' || child === null) continue
      const mark = markOf(child)
      if (mark) found.push({ holder, key, mark })
      const inner = mark ? ('value' in mark ? mark.value : null) : child
      if (typeof inner === 'object' && inner !== null) open.push(inner)
    }
  }
  return found
}

async function decodeMark(mark: Mark, source: ContentSource): Promise<unknown> {
  switch (mark[MARK]) {
    case 'bytes':
      return fromBytes(await source.bytes(mark), mark)
    case 'live':
      return source.object(mark.index)
    case 'record':
    case 'map':
    case 'set':
      return containerOf(mark)
    case 'date':
      return new Date(mark.value ?? Number.NaN)
    case 'url':
      return new URL(mark.value)
    case 'number':
      return Number(mark.value)
    case 'bigint':
      return BigInt(mark.value)
    default:
      throw unknownForm()
  }
}

function fromBytes(bytes: Uint8Array, { as, mime }: ContentLeaf): unknown {
  const { buffer } = copyBytes(bytes)
  if (as === 'Blob') return new Blob([buffer], { type: mime })
  if (as === 'ArrayBuffer') return buffer
  if (as === 'DataView') return new DataView(buffer)
  const Type = TYPED_ARRAYS[as]
  if (!Type) throw unknownForm()
  return new Type(buffer)
}

function unknownForm(): ByrefError {
  return new ByrefError(
    'storage_failed',
    'The asset has content in an unknown format. It may come from a newer version of byref.',
  )
}
