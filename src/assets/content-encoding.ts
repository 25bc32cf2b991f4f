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
  try {
    return await new ContentEncoder(depth).encoded(content)
  } catch (error) {
    if (error instanceof CycleError) return cyclic(content, error.path)
    if (error instanceof RangeError) throw beyondNode(error)
    throw error
  }
}

/** One encoding. Levels count from the root. */
class ContentEncoder {
  readonly #depth: number
  #nodes = 0
  /** The containers around the value that is being encoded, from the root. */
  readonly #above: object[] = []
  /** The key of each of them, and of the value itself, in the container before. Null in the list of a Set. */
  readonly #keys: (string | number | null)[] = []
  readonly #parts = new Map<string, StorePart>()
  readonly #objects: unknown[] = []
  readonly #objectPaths: string[] = []
  readonly #blobs: Promise<Mark>[] = []
  /** The prefix of placeholder texts for Blobs that are still being read. Random, so that no content has it. */
  readonly #blobPlace = `blob ${randomBytes(10).toString('hex')} `

  constructor(depth: number) {
    this.#depth = depth
  }

  async encoded(content: unknown): Promise<EncodedContent> {
    const root = content === undefined ? null : this.#encode(content, 0)
    const json = await this.#withBlobs(JSON.stringify(root))
    const parts = [...this.#parts.values()]
    const live = { objects: this.#objects, objectPaths: this.#objectPaths }
    return { json, marked: root !== content, parts, ...live }
  }

  #encode(value: unknown, level: number): unknown {
    if (++this.#nodes > MAX_NODES) throw tooManyNodes()
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
        return value === null ? null : this.#encodeObject(value, level)
      default:
        return this.#liveMark(value, level)
    }
  }

  #encodeObject(value: object, level: number): unknown {
    const isContainer = Array.isArray(value) || isRecord(value)
    const leaf = isContainer ? null : this.#encodeLeaf(value)
    if (leaf !== null) return leaf
    for (let i = 0; i < level; i++) {
      if (this.#above[i] === value) throw new CycleError(this.#pathTo(level))
    }
    if (level > this.#depth) {
      const message = `The content is nested more than ${this.#depth} levels deep (limits.depth).`
      throw new ByrefError('too_deep', message)
    }
    this.#above[level] = value
    return this.#encodeContainer(value, level)
  }

  /** Encodes an object without children. Returns null for all other objects. */
  #encodeLeaf(value: object): Mark | string | null {
    if (ArrayBuffer.isView(value)) {
      const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
      return this.#bytesMark(bytes, viewName(value))
    }
    if (value instanceof ArrayBuffer) return this.#bytesMark(new Uint8Array(value), 'ArrayBuffer')
    if (value instanceof Blob) return this.#holdPlace(value)
    // The JSON of an invalid date is null.
    if (value instanceof Date) return { [MARK]: 'date', value: value.toJSON() }
    return value instanceof URL ? { [MARK]: 'url', value: value.href } : null
  }

  #encodeContainer(value: object, level: number): unknown {
    if (Array.isArray(value)) return this.#encodeList(value, level)
    if (value instanceof Map) {
      const entries = [...value].map((entry, i) => {
        this.#keys[level + 1] = i
        this.#above[level + 1] = entry
        return this.#encodeList(entry, level + 1)
      })
      return { [MARK]: 'map', value: entries }
    }
    if (value instanceof Set) {
      const items = [...value]
      this.#keys[level + 1] = null
      this.#above[level + 1] = items
      return { [MARK]: 'set', value: this.#encodeList(items, level + 1) }
    }
    if (isPlainObject(value)) return this.#encodeRecord(value, level)
    return this.#liveMark(value, level)
  }

  /** Returns the list itself if nothing in it becomes a mark. */
  #encodeList(items: readonly unknown[], level: number): readonly unknown[] {
    if (items.length > MAX_NODES) throw tooManyNodes()
    let copy: unknown[] | null = null
    for (let i = 0; i < items.length; i++) {
      const item = items[i]
      this.#keys[level + 1] = i
      const encoded = this.#encode(item, level + 1)
      if (encoded !== item) copy ??= items.slice(0, i)
      copy?.push(encoded)
    }
    return copy ?? items
  }

  /** Returns the object itself if nothing in it becomes a mark. */
  #encodeRecord(source: Record<string, unknown>, level: number): unknown {
    let copy: Record<string, unknown> | null = null
    const keys = Object.keys(source)
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] as string
      const item = source[key]
      this.#keys[level + 1] = key
      const encoded = item === undefined ? undefined : this.#encode(item, level + 1)
      if (encoded !== item) copy ??= picked(source, keys.slice(0, i))
      if (copy) copy[key] = encoded
    }
    const result = copy ?? source
    return Object.hasOwn(result, MARK) ? { [MARK]: 'record', value: result } : result
  }

  #bytesMark(bytes: Uint8Array, as: string, mime?: string): Mark {
    const copy = copyBytes(bytes)
    const digest = sha256(copy)
    this.#parts.set(digest, { digest, bytes: copy })
    return { [MARK]: 'bytes', as, digest, size: copy.byteLength, ...(mime && { mime }) }
  }

  #liveMark(value: unknown, level: number): Mark {
    this.#objectPaths.push(this.#pathTo(level))
    return { [MARK]: 'live', index: this.#objects.push(value) - 1 }
  }

  /** Returns a placeholder for the mark of a Blob, whose digest is known only after reading it. */
  #holdPlace(blob: Blob): string {
    const read = blob
      .arrayBuffer()
      .then((buffer) => this.#bytesMark(new Uint8Array(buffer), 'Blob', blob.type || undefined))
    // It is awaited after the walk, which may fail before.
    read.catch(() => {})
    return this.#blobPlace + (this.#blobs.push(read) - 1)
  }

  async #withBlobs(json: string): Promise<string> {
    if (this.#blobs.length === 0) return json
    const marks = await Promise.all(this.#blobs)
    return json.replace(new RegExp(`"${this.#blobPlace}(\\d+)"`, 'g'), (_, index) =>
      JSON.stringify(marks[index]),
    )
  }

  /** Returns the JSON Pointer to the value that is being encoded. */
  #pathTo(level: number): string {
    return toPointer(this.#keys.slice(1, level + 1).filter((key) => key !== null))
  }
}

/** Returns whether an object is certainly plain data. It is a cheap test for most objects. */
function isRecord(value: object): boolean {
  return Object.getPrototypeOf(value) === Object.prototype
}

/** Without a prototype, `__proto__` is an ordinary key. */
function picked(source: Record<string, unknown>, keys: string[]): Record<string, unknown> {
  const copy = Object.create(null) as Record<string, unknown>
  for (const key of keys) copy[key] = source[key]
  return copy
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
