import { isPlainObject, putKey } from '../content/json.ts'
import { ByrefError } from '../errors.ts'
import type { StorePart } from './asset-store.ts'
import { copyBytes } from './bodies/body.ts'
import { sha256 } from './bodies/digest.ts'

/** Structured content as a store keeps it: JSON, the bytes at its leaves as bodies of their own, live objects apart. */
export interface EncodedContent {
  json: string
  /** Whether `json` has marks in it; without them it is the content itself. */
  marked: boolean
  parts: StorePart[]
  objects: unknown[]
  /** Where the live objects are, as JSON Pointers. */
  objectPaths: string[]
}

/** A leaf whose bytes lie in a body of its own. */
export interface ContentLeaf {
  digest: string
  size: number
  /** What the bytes were: `Uint8Array`, `Float32Array`, `ArrayBuffer`, `Blob` … */
  as: string
  mime?: string
}

/** Where marks get what is not in the JSON. */
export interface ContentSource {
  bytes(leaf: ContentLeaf): Promise<Uint8Array>
  object(index: number): Promise<unknown>
}

const MARK = '$byref'
const MAX_NODES = 20_000_000

const TYPED_ARRAYS = {
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
}

/**
 * Takes content apart. What JSON cannot carry is replaced by marks; plain JSON is left as it is.
 *
 * @throws ByrefError `too_deep` beyond `depth` levels; `asset_invalid` for content without end
 */
export async function encodeContent(
  content: unknown,
  options: { depth: number },
): Promise<EncodedContent> {
  const parts = new Map<string, StorePart>()
  const objects: unknown[] = []
  const objectPaths: string[] = []
  const blobs: Promise<void>[] = []
  const above = new Set<object>()
  let nodes = 0

  function bytesMark(bytes: Uint8Array, as: string, mime?: string): unknown {
    const copy = copyBytes(bytes)
    const digest = sha256(copy)
    parts.set(digest, { digest, bytes: copy })
    return { [MARK]: 'bytes', as, digest, size: copy.byteLength, ...(mime && { mime }) }
  }

  function live(value: unknown, path: string): unknown {
    objects.push(value)
    objectPaths.push(path)
    return { [MARK]: 'live', index: objects.length - 1 }
  }

  function encodeObject(value: object, path: string, level: number): unknown {
    if (ArrayBuffer.isView(value)) {
      const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
      return bytesMark(bytes, arrayName(value))
    }
    if (value instanceof ArrayBuffer) return bytesMark(new Uint8Array(value), 'ArrayBuffer')
    if (value instanceof Blob) {
      const mark: Record<string, unknown> = {}
      const read = value.arrayBuffer().then((buffer) => {
        Object.assign(mark, bytesMark(new Uint8Array(buffer), 'Blob', value.type || undefined))
      })
      blobs.push(read)
      return mark
    }
    if (value instanceof Date) {
      const time = value.getTime()
      return { [MARK]: 'date', value: Number.isNaN(time) ? null : value.toISOString() }
    }
    if (value instanceof URL) return { [MARK]: 'url', value: value.href }
    if (above.has(value)) throw new CycleError(path)
    if (level > options.depth) throw tooDeep(options.depth)
    above.add(value)
    try {
      return encodeContainer(value, path, level)
    } finally {
      above.delete(value)
    }
  }

  function encodeContainer(value: object, path: string, level: number): unknown {
    if (Array.isArray(value)) return encodeArray(value, path, level)
    if (value instanceof Map) {
      const entries = [...value].map((entry, i) => encodeArray(entry, `${path}/${i}`, level + 1))
      return { [MARK]: 'map', value: entries }
    }
    if (value instanceof Set) {
      return { [MARK]: 'set', value: encodeArray([...value], path, level + 1) }
    }
    return isPlainObject(value) ? encodeRecord(value, path, level) : live(value, path)
  }

  function encodeArray(items: readonly unknown[], path: string, level: number): unknown[] {
    let copy: unknown[] | null = null
    for (let i = 0; i < items.length; i++) {
      const item = items[i]
      const encoded = encode(item, path, i, level + 1)
      if (encoded !== item && copy === null) copy = items.slice(0, i)
      copy?.push(encoded)
    }
    return copy ?? (items as unknown[])
  }

  function encodeRecord(value: object, path: string, level: number): unknown {
    let copy: Record<string, unknown> | null = null
    const keys = Object.keys(value)
    const source = value as Record<string, unknown>
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] as string
      const encoded =
        source[key] === undefined ? undefined : encode(source[key], path, key, level + 1)
      if (encoded !== source[key] && copy === null) {
        copy = Object.create(null) as Record<string, unknown>
        for (const before of keys.slice(0, i)) copy[before] = source[before]
      }
      if (copy !== null) copy[key] = encoded
    }
    const result = copy ?? source
    return Object.hasOwn(result, MARK) ? { [MARK]: 'record', value: result } : result
  }

  function encode(value: unknown, path: string, key: string | number, level: number): unknown {
    if (++nodes > MAX_NODES) throw tooManyNodes()
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value
      case 'number':
        return Number.isFinite(value) && !Object.is(value, -0)
          ? value
          : { [MARK]: 'number', value: Object.is(value, -0) ? '-0' : String(value) }
      case 'bigint':
        return { [MARK]: 'bigint', value: String(value) }
      case 'undefined':
        return null
      case 'object':
        return value === null ? null : encodeObject(value, pointer(path, key), level)
      default:
        return live(value, pointer(path, key))
    }
  }

  let root: unknown
  try {
    root = content === undefined ? null : encode(content, '', '', 0)
  } catch (error) {
    if (!(error instanceof CycleError)) throw error
    return cyclic(content, error.path)
  }
  await Promise.all(blobs)
  const marked = root !== content
  return { json: JSON.stringify(root), marked, parts: [...parts.values()], objects, objectPaths }
}

/** Puts content together again: every mark below `value` becomes what it stands for. Changes `value`'s containers. */
export async function decodeContent(value: unknown, source: ContentSource): Promise<unknown> {
  const found = markOf(value)
  if (found) return decodeMark(found, source)
  if (typeof value !== 'object' || value === null) return value
  const container = value as Record<string, unknown>
  for (const key of Object.keys(container)) {
    const child = container[key]
    if (typeof child === 'object' && child !== null) {
      const decoded = await decodeContent(child, source)
      if (decoded !== child) putKey(container, key, decoded)
    }
  }
  return value
}

async function decodeMark(mark: Mark, source: ContentSource): Promise<unknown> {
  const { value } = mark
  switch (mark[MARK]) {
    case 'bytes':
      return fromBytes(await source.bytes(mark as unknown as ContentLeaf), mark)
    case 'live':
      return source.object(Number(mark.index))
    case 'record':
      for (const key of Object.keys(value as object)) {
        const record = value as Record<string, unknown>
        putKey(record, key, await decodeContent(record[key], source))
      }
      return value
    case 'map':
      return new Map((await decodeContent(value, source)) as [unknown, unknown][])
    case 'set':
      return new Set((await decodeContent(value, source)) as unknown[])
    case 'date':
      return new Date(value === null ? Number.NaN : String(value))
    case 'url':
      return new URL(String(value))
    case 'number':
      return Number(value)
    case 'bigint':
      return BigInt(String(value))
    default:
      throw new ByrefError('storage_failed', `An asset has content of an unknown form.`)
  }
}

/** Whether the value stands for something that is not in the JSON. */
export function isMark(value: unknown): boolean {
  return markOf(value) !== null
}

interface Mark {
  [MARK]: string
  [key: string]: unknown
}

function markOf(value: unknown): Mark | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  return Object.hasOwn(value, MARK) ? (value as Mark) : null
}

function fromBytes(bytes: Uint8Array, mark: Mark): unknown {
  const as = String(mark.as)
  const { buffer } = copyBytes(bytes)
  if (as === 'Blob') return new Blob([buffer], { type: String(mark.mime ?? '') })
  if (as === 'ArrayBuffer') return buffer
  if (as === 'DataView') return new DataView(buffer)
  const Type = TYPED_ARRAYS[as as keyof typeof TYPED_ARRAYS] ?? Uint8Array
  return new Type(buffer)
}

function arrayName(value: ArrayBufferView): string {
  if (value instanceof DataView) return 'DataView'
  const name = Object.entries(TYPED_ARRAYS).find(([, type]) => value instanceof type)?.[0]
  return name ?? 'Uint8Array'
}

class CycleError extends Error {
  readonly path: string

  constructor(path: string) {
    super(`cycle at ${path}`)
    this.path = path
  }
}

/** Content that contains itself is one live object as a whole. */
function cyclic(content: unknown, path: string): EncodedContent {
  const json = JSON.stringify({ [MARK]: 'live', index: 0 })
  return { json, marked: true, parts: [], objects: [content], objectPaths: [path] }
}

function pointer(path: string, key: string | number): string {
  if (path === '' && key === '') return ''
  return `${path}/${String(key).replace(/~/g, '~0').replace(/\//g, '~1')}`
}

function tooDeep(depth: number): ByrefError {
  return new ByrefError(
    'too_deep',
    `The content is nested more than ${depth} levels deep (limits.depth).`,
  )
}

function tooManyNodes(): ByrefError {
  return new ByrefError('too_many_assets', `The content has more than ${MAX_NODES} values.`)
}
