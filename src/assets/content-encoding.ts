import { ByrefError } from '../core/errors.ts'
import { isPlainObject } from '../core/json/json.ts'
import { toPointer } from '../core/refs/field-key.ts'
import { nodeBuiltin } from '../node-builtin.ts'
import type { StorePart } from './asset-store.ts'
import { copyBytes } from './bodies/body.ts'
import { sha256 } from './bodies/digest.ts'
import { MARK, type Mark, TYPED_ARRAYS } from './content-decoding.ts'

const { randomBytes } = nodeBuiltin('node:crypto')

/** Structured content in its stored form: JSON, the bytes at its leaves as separate bodies, and live objects apart. */
export interface EncodedContent {
  json: string
  /** Whether `json` has marks in it. Without marks it is the content itself. */
  marked: boolean
  parts: StorePart[]
  objects: unknown[]
  /** The positions of live objects, as JSON Pointers. */
  objectPaths: string[]
}

/** The state of an encoding. */
interface Encoding {
  depth: number
  nodes: number
  /** The containers around the value that is being encoded, from the root. */
  above: object[]
  /** The key of each of them, and of the value itself, in the container before. Null in the list of a Set. */
  keys: (string | number | null)[]
  parts: Map<string, StorePart>
  objects: unknown[]
  objectPaths: string[]
  blobs: Promise<Mark>[]
  /** The prefix of placeholder texts for Blobs that are still being read. */
  blobPlace: string
}

const MAX_NODES = 20_000_000

/**
 * Encodes content as it is at the time of the call. Later changes by the caller have no effect. Values that JSON cannot
 * represent are replaced by marks. Plain JSON stays unchanged.
 *
 * @throws ByrefError `too_deep` beyond `depth` levels, `too_many_assets` beyond 20 million values, `asset_too_large`
 * for JSON that does not fit into a string
 */
export async function encodeContent(
  content: unknown,
  { depth }: { depth: number },
): Promise<EncodedContent> {
  const encoding: Encoding = {
    depth,
    nodes: 0,
    above: [],
    keys: [],
    parts: new Map(),
    objects: [],
    objectPaths: [],
    blobs: [],
    // Random, so that no text in the content is taken for a placeholder.
    blobPlace: `blob ${randomBytes(10).toString('hex')} `,
  }
  try {
    const root = content === undefined ? null : encode(encoding, content, 0)
    const json = await withBlobs(JSON.stringify(root), encoding)
    const { parts, objects, objectPaths } = encoding
    return { json, marked: root !== content, parts: [...parts.values()], objects, objectPaths }
  } catch (error) {
    if (error instanceof CycleError) return cyclic(content, error.path)
    if (error instanceof RangeError) throw beyondNode(error)
    throw error
  }
}

function encode(encoding: Encoding, value: unknown, level: number): unknown {
  if (++encoding.nodes > MAX_NODES) throw tooManyNodes()
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'undefined':
      // `JSON.stringify` writes undefined in a list as null.
      return value
    case 'number':
      if (Object.is(value, -0)) return { [MARK]: 'number', value: '-0' }
      return Number.isFinite(value) ? value : { [MARK]: 'number', value: String(value) }
    case 'bigint':
      return { [MARK]: 'bigint', value: String(value) }
    case 'object':
      return value === null ? null : encodeObject(encoding, value, level)
    default:
      return liveMark(encoding, value, level)
  }
}

function encodeObject(encoding: Encoding, value: object, level: number): unknown {
  const isContainer = Array.isArray(value) || isRecord(value)
  const leaf = isContainer ? null : encodeLeaf(encoding, value)
  if (leaf !== null) return leaf
  const { above, depth } = encoding
  for (let i = 0; i < level; i++) {
    if (above[i] === value) throw new CycleError(pathTo(encoding, level))
  }
  if (level > depth) {
    const message = `The content is nested more than ${depth} levels deep (limits.depth).`
    throw new ByrefError('too_deep', message)
  }
  above[level] = value
  return encodeContainer(encoding, value, level)
}

/** Returns whether an object is certainly plain data. It is a cheap test for most objects. */
function isRecord(value: object): boolean {
  return Object.getPrototypeOf(value) === Object.prototype
}

/** Encodes an object without children. Returns null for all other objects. */
function encodeLeaf(encoding: Encoding, value: object): Mark | string | null {
  if (ArrayBuffer.isView(value)) {
    const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
    return bytesMark(encoding, bytes, viewName(value))
  }
  if (value instanceof ArrayBuffer) {
    return bytesMark(encoding, new Uint8Array(value), 'ArrayBuffer')
  }
  if (value instanceof Blob) return holdPlace(encoding, value)
  if (value instanceof Date) {
    const isTime = !Number.isNaN(value.getTime())
    return { [MARK]: 'date', value: isTime ? value.toISOString() : null }
  }
  return value instanceof URL ? { [MARK]: 'url', value: value.href } : null
}

function encodeContainer(encoding: Encoding, value: object, level: number): unknown {
  if (Array.isArray(value)) return encodeList(encoding, value, level)
  const { above, keys } = encoding
  if (value instanceof Map) {
    const entries = [...value].map((entry, i) => {
      keys[level + 1] = i
      above[level + 1] = entry
      return encodeList(encoding, entry, level + 1)
    })
    return { [MARK]: 'map', value: entries }
  }
  if (value instanceof Set) {
    const items = [...value]
    keys[level + 1] = null
    above[level + 1] = items
    return { [MARK]: 'set', value: encodeList(encoding, items, level + 1) }
  }
  if (isPlainObject(value)) return encodeRecord(encoding, value, level)
  return liveMark(encoding, value, level)
}

/** Returns the list itself if nothing in it becomes a mark. */
function encodeList(
  encoding: Encoding,
  items: readonly unknown[],
  level: number,
): readonly unknown[] {
  if (items.length > MAX_NODES) throw tooManyNodes()
  let copy: unknown[] | null = null
  for (let i = 0; i < items.length; i++) {
    const item = items[i]
    encoding.keys[level + 1] = i
    const encoded = encode(encoding, item, level + 1)
    if (encoded !== item) copy ??= items.slice(0, i)
    copy?.push(encoded)
  }
  return copy ?? items
}

/** Returns the object itself if nothing in it becomes a mark. */
function encodeRecord(encoding: Encoding, source: Record<string, unknown>, level: number): unknown {
  let copy: Record<string, unknown> | null = null
  const keys = Object.keys(source)
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    const item = source[key]
    encoding.keys[level + 1] = key
    const encoded = item === undefined ? undefined : encode(encoding, item, level + 1)
    if (encoded !== item) copy ??= picked(source, keys.slice(0, i))
    if (copy) copy[key] = encoded
  }
  const result = copy ?? source
  return Object.hasOwn(result, MARK) ? { [MARK]: 'record', value: result } : result
}

/** Without a prototype, `__proto__` is an ordinary key. */
function picked(source: Record<string, unknown>, keys: string[]): Record<string, unknown> {
  const copy = Object.create(null) as Record<string, unknown>
  for (const key of keys) copy[key] = source[key]
  return copy
}

function bytesMark({ parts }: Encoding, bytes: Uint8Array, as: string, mime?: string): Mark {
  const copy = copyBytes(bytes)
  const digest = sha256(copy)
  parts.set(digest, { digest, bytes: copy })
  return { [MARK]: 'bytes', as, digest, size: copy.byteLength, ...(mime && { mime }) }
}

function liveMark(encoding: Encoding, value: unknown, level: number): Mark {
  const { objects, objectPaths } = encoding
  objects.push(value)
  objectPaths.push(pathTo(encoding, level))
  return { [MARK]: 'live', index: objects.length - 1 }
}

/** Returns a placeholder for the mark of a Blob, whose digest is known only after reading it. */
function holdPlace(encoding: Encoding, blob: Blob): string {
  const read = blob
    .arrayBuffer()
    .then((buffer) => bytesMark(encoding, new Uint8Array(buffer), 'Blob', blob.type || undefined))
  // It is awaited after the walk, which may fail before.
  read.catch(() => {})
  return encoding.blobPlace + (encoding.blobs.push(read) - 1)
}

async function withBlobs(json: string, { blobs, blobPlace }: Encoding): Promise<string> {
  if (blobs.length === 0) return json
  const marks = await Promise.all(blobs)
  return json.replace(new RegExp(`"${blobPlace}(\\d+)"`, 'g'), (_, index) =>
    JSON.stringify(marks[index]),
  )
}

/** Returns `DataView`, or the name of the typed array. A Buffer is a `Uint8Array`. */
function viewName(view: ArrayBufferView): string {
  const name = Object.prototype.toString.call(view).slice(8, -1)
  return name === 'DataView' || Object.hasOwn(TYPED_ARRAYS, name) ? name : 'Uint8Array'
}

class CycleError extends Error {
  readonly path: string

  constructor(path: string) {
    super(`cycle at ${path}`)
    this.path = path
  }
}

/** Returns content that contains itself, as a single live object. */
function cyclic(content: unknown, path: string): EncodedContent {
  const json = JSON.stringify({ [MARK]: 'live', index: 0 })
  return { json, marked: true, parts: [], objects: [content], objectPaths: [path] }
}

/** Returns the JSON Pointer to the value that is being encoded. */
function pathTo({ keys }: Encoding, level: number): string {
  const steps = keys.slice(1, level + 1).filter((key) => key !== null)
  return toPointer(steps)
}

function tooManyNodes(): ByrefError {
  return new ByrefError('too_many_assets', `The content has more than ${MAX_NODES} values.`)
}

/**
 * Returns the JSON of a plain JSON value.
 *
 * @throws ByrefError `too_deep` or `asset_too_large` at the limits of Node: the maximum call depth and string length
 */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (error instanceof RangeError) throw beyondNode(error)
    throw error
  }
}

/** Converts a RangeError of Node to an error that says which limit was reached. */
export function beyondNode(error: RangeError): ByrefError {
  return /string length/i.test(error.message)
    ? new ByrefError('asset_too_large', 'The content is too large to be written as one JSON text.')
    : new ByrefError('too_deep', 'The content is nested deeper than the process can follow.')
}
