import { Readable } from 'node:stream'
import { isAssetRef } from '../../refs/asset-ref.ts'
import { isByteView } from '../bodies/body.ts'
import { startsDataUrl } from '../bodies/data-url.ts'

/** A body that was found in a value, not decoded yet. */
export type FoundBody =
  | { type: 'base64'; text: string }
  | { type: 'data-url'; text: string }
  | { type: 'bytes'; bytes: Uint8Array }
  | { type: 'blob'; blob: Blob }
  | { type: 'stream'; stream: ReadableStream<Uint8Array> }
  | { type: 'response'; response: Response }
  | { type: 'node-stream'; stream: Readable }

/** An object that stands for a body. */
export interface AssetShape {
  body: FoundBody
  /** The type that the object claims. */
  mime: string | null
  name: string | null
  /** Keys that the reference replaces, the claim's not among them; all others stay. */
  keys: string[]
  /** The key of the claim. */
  typeKey: string | null
}

export type Fields = Readonly<Record<string, unknown>>

/** Keys under which some shape has its bytes; objects without any of them are no shape. */
export const DATA_KEYS: ReadonlySet<string> = new Set([
  'dataBase64',
  'dataUrl',
  'data',
  'blob',
  'b64_json',
  'base64',
  'bytes',
  'image',
  'result',
  'file_data',
])

const COPY_KEYS = ['dataUrl', 'dataBase64', 'base64', 'b64_json']
const TYPE_KEYS = ['mimeType', 'mediaType', 'mime_type', 'media_type', 'mime', 'contentType']
const NAME_KEYS = ['fileName', 'filename', 'file_name', 'name']
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:/
/** `type`s of objects that have base64 under `data`: MCP, AI SDK, Anthropic. */
const DATA_TYPES = new Set(['image', 'audio', 'file', 'media', 'image-data', 'file-data', 'base64'])

/** Whether this is what an object has under `assetRef` that stands for an asset: what lies beside it is a copy. */
export function carriesRef(assetRef: unknown): boolean {
  return typeof assetRef === 'string' && isAssetRef(assetRef)
}

/** Keys under which an object has its body once more, as text. */
export function copiedKeys(fields: Fields): string[] {
  return COPY_KEYS.filter((key) => {
    const value = fields[key]
    if (typeof value !== 'string') return false
    return startsDataUrl(value) || (key !== 'dataUrl' && !SCHEME.test(value))
  })
}

/**
 * A body that is a value by itself: bytes (a Buffer, a `Uint8ClampedArray`, a `DataView` too), a Blob, a Response, a
 * stream of the web or of Node. Null for all else, typed arrays of numbers among it.
 */
export function binaryBody(value: object): FoundBody | null {
  if (ArrayBuffer.isView(value)) return isByteView(value) ? bytesBody(value) : null
  if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer) {
    return { type: 'bytes', bytes: new Uint8Array(value) }
  }
  if (value instanceof Blob) return { type: 'blob', blob: value }
  if (value instanceof Response) return { type: 'response', response: value }
  if (value instanceof ReadableStream) return { type: 'stream', stream: value }
  return value instanceof Readable ? { type: 'node-stream', stream: value } : null
}

function bytesBody({ buffer, byteOffset, byteLength }: ArrayBufferView): FoundBody {
  return { type: 'bytes', bytes: new Uint8Array(buffer, byteOffset, byteLength) }
}

/**
 * The body that an object stands for, or null. `parentKey` is the key that the object was found under.
 *
 * - binary-assets.md: `{ mimeType, dataBase64 }`, `{ dataUrl }`
 * - MCP: `{ type: 'image' | 'audio', data, mimeType }`, `{ uri, mimeType, blob }`
 * - OpenAI: `{ b64_json }`, `input_audio: { data, format }`, `{ type: 'image_generation_call', result }`,
 *   `{ type: 'input_file', file_data }`, `file: { file_data }`
 * - Anthropic: `{ type: 'base64', media_type, data }`
 * - Google: `inlineData: { mimeType, data }`
 * - AI SDK: `{ type: 'file', mediaType, data }`, `{ type: 'image', image }`, `{ mediaType, base64 }`
 * - Node: the JSON of a Buffer
 */
export function shapeOf(fields: Fields, parentKey: unknown): AssetShape | null {
  const typeKey = TYPE_KEYS.find((key) => typeof fields[key] === 'string')
  const claim = typeKey === undefined ? null : String(fields[typeKey])
  const found = findBody(fields, claim, parentKey)
  if (!found) return null
  const nameKey = NAME_KEYS.find((key) => typeof fields[key] === 'string')
  return {
    body: found.body,
    mime: claim ?? found.mime ?? null,
    name: nameKey === undefined ? null : String(fields[nameKey]),
    keys: found.keys,
    typeKey: typeKey ?? null,
  }
}

interface Found {
  body: FoundBody
  keys: string[]
  mime?: string | null
}

function findBody(fields: Fields, claim: string | null, parentKey: unknown): Found | null {
  const found =
    findDataUrl(fields) ??
    (claim === null ? null : findTyped(fields)) ??
    findOpenAi(fields, parentKey)
  if (found) return found
  const { type, data } = fields
  if (type === 'Buffer' && isByteList(data)) {
    return { body: { type: 'bytes', bytes: Uint8Array.from(data) }, keys: ['type', 'data'] }
  }
  if (claim === null) return null
  if (type === 'image' && 'image' in fields) return under(fields, 'image')
  const isInline = parentKey === 'inlineData' || parentKey === 'inline_data'
  const isTyped = typeof type === 'string' && DATA_TYPES.has(type)
  if (!isInline && !isTyped) return binaryUnder(fields, 'data')
  const body = under(fields, 'data')
  return body && type === 'base64' ? { ...body, keys: ['type', 'data'] } : body
}

function findDataUrl({ dataUrl }: Fields): Found | null {
  const body = typeof dataUrl === 'string' ? dataUrlBody(dataUrl) : null
  return body && { body, keys: ['dataUrl'] }
}

function findTyped(fields: Fields): Found | null {
  const found =
    under(fields, 'dataBase64') ?? under(fields, 'base64') ?? binaryUnder(fields, 'bytes')
  if (found) return found
  const isResource = typeof fields.uri === 'string' && typeof fields.blob === 'string'
  return isResource ? under(fields, 'blob') : null
}

function findOpenAi(fields: Fields, parentKey: unknown): Found | null {
  if (typeof fields.b64_json === 'string') return under(fields, 'b64_json')
  if (fields.type === 'image_generation_call') return under(fields, 'result')
  if (fields.type === 'input_file' || parentKey === 'file') return under(fields, 'file_data')
  if (parentKey !== 'input_audio' || typeof fields.format !== 'string') return null
  const body = under(fields, 'data')
  return body && { ...body, mime: `audio/${fields.format}` }
}

/** The body under a key: base64 text, a data URL, or bytes. Text that is an ordinary URL is no body. */
function under(fields: Fields, key: string): Found | null {
  const value = fields[key]
  if (typeof value !== 'string') return binaryUnder(fields, key)
  if (SCHEME.test(value)) {
    const url = dataUrlBody(value)
    return url && { body: url, keys: [key] }
  }
  return { body: { type: 'base64', text: value }, keys: [key] }
}

function binaryUnder(fields: Fields, key: string): Found | null {
  const value = fields[key]
  if (typeof value !== 'object' || value === null) return null
  const body = binaryBody(value)
  return body && { body, keys: [key] }
}

function dataUrlBody(text: string): FoundBody | null {
  return startsDataUrl(text) ? { type: 'data-url', text } : null
}

function isByteList(value: unknown): value is number[] {
  return (
    Array.isArray(value) &&
    value.every((byte) => Number.isInteger(byte) && byte >= 0 && byte <= 255)
  )
}
