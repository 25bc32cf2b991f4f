import { isAssetRef } from '../../refs/asset-ref.ts'
import { parseDataUrl } from '../bodies/data-url.ts'

/** A body that was found in a value, not decoded yet. */
export type FoundBody =
  | { type: 'base64'; text: string }
  | { type: 'data-url'; text: string }
  | { type: 'bytes'; bytes: Uint8Array }
  | { type: 'blob'; blob: Blob }
  | { type: 'stream'; stream: ReadableStream<Uint8Array> }
  | { type: 'response'; response: Response }

/** An object that stands for a body. */
export interface AssetShape {
  body: FoundBody
  /** The type that the object claims. */
  mime: string | null
  name: string | null
  /** Keys that the reference replaces; all others stay. */
  keys: string[]
}

type Fields = Readonly<Record<string, unknown>>

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

const TYPE_KEYS = ['mimeType', 'mediaType', 'mime_type', 'media_type', 'mime', 'contentType']
const NAME_KEYS = ['fileName', 'filename', 'file_name', 'name']
/** `type`s of objects that have base64 under `data`: MCP, AI SDK, Anthropic. */
const DATA_TYPES = new Set(['image', 'audio', 'file', 'media', 'image-data', 'file-data', 'base64'])

/** Whether the object already has a reference: what lies beside it is a copy of it, and stays. */
export function carriesRef(fields: Fields): boolean {
  return typeof fields.assetRef === 'string' && isAssetRef(fields.assetRef)
}

/** A body that is a value by itself. */
export function bodyOf(value: object): FoundBody | null {
  if (value instanceof Uint8Array) return { type: 'bytes', bytes: value }
  if (value instanceof ArrayBuffer) return { type: 'bytes', bytes: new Uint8Array(value) }
  if (value instanceof Blob) return { type: 'blob', blob: value }
  if (value instanceof Response) return { type: 'response', response: value }
  if (value instanceof ReadableStream) return { type: 'stream', stream: value }
  return null
}

/**
 * The body that an object stands for, or null. `parentKey` is the key that the object was found under.
 *
 * - binary-assets.md: `{ mimeType, dataBase64 }`, `{ dataUrl }`
 * - MCP: `{ type: 'image' | 'audio', data, mimeType }`, `{ uri, mimeType, blob }`
 * - OpenAI: `{ b64_json }`, `input_audio: { data, format }`, `{ type: 'image_generation_call', result }`
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
    keys: [...found.keys, ...(typeKey === undefined ? [] : [typeKey])],
  }
}

interface Found {
  body: FoundBody
  keys: string[]
  mime?: string | null
}

function findBody(fields: Fields, claim: string | null, parentKey: unknown): Found | null {
  const { type, data } = fields
  if (typeof fields.dataUrl === 'string') {
    const keys = typeof fields.dataBase64 === 'string' ? ['dataUrl', 'dataBase64'] : ['dataUrl']
    const url = dataUrl(fields.dataUrl)
    if (url) return { body: url, keys }
  }
  if (claim !== null) {
    const typed =
      under(fields, 'dataBase64') ?? under(fields, 'base64') ?? binaryUnder(fields, 'bytes')
    if (typed) return typed
    if (typeof fields.uri === 'string' && typeof fields.blob === 'string') {
      return under(fields, 'blob')
    }
  }
  if (typeof fields.b64_json === 'string') return under(fields, 'b64_json')
  if (parentKey === 'input_audio' && typeof fields.format === 'string') {
    const body = under(fields, 'data')
    return body && { ...body, mime: `audio/${fields.format}` }
  }
  if (type === 'image_generation_call') return under(fields, 'result')
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

/** The body under a key: base64 text, a data URL, or bytes. Text that is an ordinary URL is no body. */
function under(fields: Fields, key: string): Found | null {
  const value = fields[key]
  if (typeof value !== 'string') return binaryUnder(fields, key)
  if (/^[A-Za-z][A-Za-z0-9+.-]*:/.test(value)) {
    const url = dataUrl(value)
    return url && { body: url, keys: [key] }
  }
  return { body: { type: 'base64', text: value }, keys: [key] }
}

function binaryUnder(fields: Fields, key: string): Found | null {
  const value = fields[key]
  if (typeof value !== 'object' || value === null) return null
  const body = bodyOf(value)
  return body && { body, keys: [key] }
}

function dataUrl(text: string): FoundBody | null {
  return parseDataUrl(text) ? { type: 'data-url', text } : null
}

function isByteList(value: unknown): value is number[] {
  return (
    Array.isArray(value) &&
    value.every((byte) => Number.isInteger(byte) && byte >= 0 && byte <= 255)
  )
}
