import { isAssetRef } from '../../refs/asset-ref.ts'
import { decodeBase64, readDataUrl } from '../bodies/data-url.ts'
import { binaryBody, type FoundBody } from './found-body.ts'

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
  'base64Data',
  'uint8ArrayData',
  'bytesBase64Encoded',
  'imageBytes',
  'videoBytes',
])

const COPY_KEYS = [
  'dataUrl',
  'dataBase64',
  'base64',
  'b64_json',
  'base64Data',
  'bytesBase64Encoded',
]
/** Keys that say by their names what lies under them. */
const TELLING_KEYS = ['b64_json', 'bytesBase64Encoded', 'imageBytes', 'videoBytes']
const TYPE_KEYS = ['mimeType', 'mediaType', 'mime_type', 'media_type', 'mime', 'contentType']
const NAME_KEYS = ['fileName', 'filename', 'file_name', 'name']
/** Bounded, since base64 looks like a scheme for as long as it has neither `/` nor `=`. */
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]{0,63}:/
/** `type`s of objects that have base64 under `data`: MCP, AI SDK, Anthropic. */
const DATA_TYPES = new Set(['image', 'audio', 'file', 'media', 'image-data', 'file-data', 'base64'])

/** What files of PNG, JPEG, GIF, WebP, TIFF, AVIF and HEIC begin with, in latin1. */
const IMAGE_START =
  /^(?:\x89PNG\r\n|\xff\xd8\xff|GIF8[79]a|RIFF[\s\S]{4}WEBP|II\*\0|MM\0\*|[\s\S]{4}ftyp(?:avif|avis|heic|heix|mif1))/

/** Whether this is what an object has under `assetRef` that stands for an asset: what lies beside it is a copy. */
export function carriesRef(assetRef: unknown): boolean {
  return typeof assetRef === 'string' && isAssetRef(assetRef)
}

/** Keys under which an object has its body once more, as text. */
export function copiedKeys(fields: Fields): string[] {
  return COPY_KEYS.filter((key) => {
    const value = fields[key]
    if (typeof value !== 'string') return false
    return readDataUrl(value) !== null || (key !== 'dataUrl' && !SCHEME.test(value))
  })
}

/**
 * The body that an object stands for, or null. `parentKey` is the key that the object was found under.
 *
 * - binary-assets.md: `{ mimeType, dataBase64 }`, `{ dataUrl }`
 * - MCP: `{ type: 'image' | 'audio', data, mimeType }`, `{ uri, mimeType, blob }`; without `mimeType`, a `blob` that is
 *   base64 beyond doubt
 * - OpenAI: `{ b64_json }`, `input_audio: { data, format }`, `{ type: 'image_generation_call', result }`,
 *   `{ type: 'input_file', file_data }`, `file: { file_data }`, `audio: { data, transcript }` of a message
 * - Anthropic: `{ type: 'base64', media_type, data }`
 * - Google: `inlineData: { mimeType, data }`, `{ bytesBase64Encoded }`, `{ imageBytes }`, `{ videoBytes }`
 * - AI SDK: `{ type: 'file', mediaType, data }`, `{ type: 'image', image }`, without `mediaType` where its bytes are an
 *   image; `{ mediaType, base64 }`; generated files, `{ mediaType, base64Data, uint8ArrayData }`
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
    findTelling(fields) ??
    findResource(fields, claim) ??
    findOpenAi(fields, parentKey)
  if (found) return found
  const { type, data } = fields
  if (type === 'Buffer' && isByteList(data)) {
    return { body: { type: 'bytes', bytes: Uint8Array.from(data) }, keys: ['type', 'data'] }
  }
  if (type === 'image' && 'image' in fields && (claim !== null || isImage(fields.image))) {
    return under(fields, 'image')
  }
  return claim === null ? null : findData(fields, parentKey)
}

function findData(fields: Fields, parentKey: unknown): Found | null {
  const { type } = fields
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
  return found ?? findGenerated(fields)
}

/** A file of the AI SDK, which has its body as base64, as bytes, or as both. */
function findGenerated(fields: Fields): Found | null {
  const found = under(fields, 'base64Data') ?? binaryUnder(fields, 'uint8ArrayData')
  return found && { ...found, keys: ['base64Data', 'uint8ArrayData'] }
}

function findTelling(fields: Fields): Found | null {
  const key = TELLING_KEYS.find((one) => fields[one] !== undefined)
  return key === undefined || isCount(fields[key]) ? null : under(fields, key)
}

function isCount(value: unknown): boolean {
  return typeof value === 'string' && /^\d+$/.test(value)
}

function findResource(fields: Fields, claim: string | null): Found | null {
  const { uri, blob } = fields
  if (typeof uri !== 'string' || typeof blob !== 'string') return null
  return claim !== null || isSurelyBase64(blob) ? under(fields, 'blob') : null
}

function findOpenAi(fields: Fields, parentKey: unknown): Found | null {
  const { type, format, transcript } = fields
  if (type === 'image_generation_call') return under(fields, 'result')
  if (type === 'input_file' || parentKey === 'file') return under(fields, 'file_data')
  if (parentKey === 'audio' && typeof transcript === 'string') return under(fields, 'data')
  if (parentKey !== 'input_audio' || typeof format !== 'string') return null
  const body = under(fields, 'data')
  return body && { ...body, mime: `audio/${format}` }
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
  return readDataUrl(text) ? { type: 'data-url', text } : null
}

function isByteList(value: unknown): value is number[] {
  return (
    Array.isArray(value) &&
    value.every((byte) => Number.isInteger(byte) && byte >= 0 && byte <= 255)
  )
}

/** Whether base64 begins as an image does. */
function isImage(value: unknown): boolean {
  if (typeof value !== 'string') return false
  return IMAGE_START.test(Buffer.from(value.slice(0, 64), 'base64').toString('latin1', 0, 16))
}

/** Whether text is base64 where no type says so: no name, and no hash. */
function isSurelyBase64(text: string): boolean {
  const isName = text.length < 64 || text.length % 4 !== 0 || /^[0-9a-f]*$/i.test(text)
  return !isName && decodeBase64(text) !== null
}
