import { ByrefError } from '../core/errors.ts'
import { Branch, copyTree } from '../core/json/copy-json.ts'
import { className, isPlainObject, type JsonValue } from '../core/json/json.ts'
import type { FieldKey } from '../core/refs/field-path.ts'
import { bytesIn, isByteView } from './bodies/body.ts'
import { SNIFF_BYTES, sniff } from './bodies/sniff.ts'
import { jsonText } from './content-encoding.ts'

/** The bytes of a value, and their MIME type. */
export interface FileValue {
  bytes: Uint8Array
  mime: string
}

/** Options of {@link valueAsFile}. */
export interface ValueAsFileOptions {
  /**
   * Returns the reference of a field below the value, as a replacement for what JSON cannot represent. Default: such
   * values are rejected.
   */
  refOf?: (path: readonly FieldKey[]) => string
}

/**
 * Converts a value to a file. Bytes and Blobs stay unchanged, with the type that their bytes show. Text is UTF-8
 * (`text/plain; charset=utf-8`), and so are bigint, NaN, the infinities, Date (ISO 8601) and URL.
 * Everything else is `application/json`. In it, a Map is an object, or a list of pairs if it has keys that are not
 * text. A Set and a typed array of numbers are lists, an object with `toJSON` is its result, and the scalars above are
 * text. Undefined is left out of objects and null in lists. What JSON cannot represent further down (bytes, functions,
 * live objects) becomes the reference of its field.
 *
 * @throws ByrefError `asset_unsupported` for a live object by itself, for one that has no reference, and for a cycle;
 * `too_deep` and `asset_too_large` at the limits of the process
 */
export async function valueAsFile(
  value: unknown,
  options: ValueAsFileOptions = {},
): Promise<FileValue> {
  const binary = await binaryBody(value)
  if (binary) return binary
  const isText = typeof value === 'string'
  const text = isText ? value : scalarText(value)
  if (text !== null) return { bytes: Buffer.from(text), mime: 'text/plain; charset=utf-8' }
  return { bytes: Buffer.from(jsonText(jsonTree(value, options))), mime: 'application/json' }
}

async function binaryBody(value: unknown): Promise<FileValue | null> {
  const claim = value instanceof Blob ? value.type : undefined
  const bytes = bytesIn(value instanceof Blob ? await value.arrayBuffer() : value)
  if (bytes === null) return null
  const complete = bytes.byteLength <= SNIFF_BYTES
  return { bytes, mime: await sniff(bytes.subarray(0, SNIFF_BYTES), { claim, complete }) }
}

/** Returns the text of a value that JSON has no form for. Null for any other value. */
function scalarText(value: unknown): string | null {
  if (typeof value === 'bigint' || value instanceof URL) return String(value)
  if (typeof value === 'number') return Number.isFinite(value) ? null : String(value)
  return value instanceof Date ? (value.toJSON() ?? String(value)) : null
}

function jsonTree(root: unknown, { refOf }: ValueAsFileOptions) {
  function visit(
    value: unknown,
    open: readonly Branch[],
    sources: ReadonlySet<unknown>,
  ): Branch | JsonValue | undefined {
    const text = scalarText(value)
    if (text !== null) return text
    if (value === undefined) return Array.isArray(open.at(-1)?.out) ? null : undefined
    if (typeof value !== 'object' && typeof value !== 'function' && typeof value !== 'symbol') {
      return value as JsonValue
    }
    if (value === null) return null
    const toJSON = (value as { toJSON?: unknown }).toJSON
    if (typeof toJSON === 'function') return visit(toJSON.call(value), open, sources)
    if (sources.has(value)) throw unsupported('cycle', pathOf(open))
    const branch = branchOf(value)
    if (branch) return branch
    if (refOf && open.length > 0) return refOf(pathOf(open))
    throw unsupported(className(value), pathOf(open))
  }
  return copyTree(root, visit)
}

function pathOf(open: readonly Branch[]): FieldKey[] {
  return open.map(({ key }) => key)
}

/** Returns the value as a container of JSON. Null for a scalar. */
function branchOf(value: unknown): Branch | null {
  if (ArrayBuffer.isView(value)) return isByteView(value) ? null : numbersBranch(value)
  if (Array.isArray(value)) return new Branch(value, true, value.entries())
  if (value instanceof Set) return new Branch(value, true, [...value].entries())
  if (value instanceof Map) {
    const isObject = [...value.keys()].every((key) => typeof key === 'string')
    return new Branch(value, !isObject, isObject ? value : [...value].entries())
  }
  return isPlainObject(value) ? new Branch(value, false, Object.entries(value)) : null
}

function numbersBranch(view: ArrayBufferView): Branch {
  const numbers = Array.from(view as ArrayBufferView & ArrayLike<number | bigint>)
  return new Branch(view, true, numbers.entries())
}

function unsupported(what: string, path: readonly FieldKey[]): ByrefError {
  return new ByrefError(
    'asset_unsupported',
    path.length === 0
      ? `A live ${what} has no bytes; use resolve().`
      : `JSON cannot represent the ${what} at ${path.join('/')}; read that field by itself.`,
  )
}
