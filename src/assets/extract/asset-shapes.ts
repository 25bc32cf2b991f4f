import { isAssetRef } from '../../core/refs/asset-ref.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import { decodeBase64, isBase64File, parseDataUrl, readDataUrl } from '../bodies/data-url.ts'
import { binaryBody, type FoundBody } from './found-body.ts'

const { isUtf8 } = nodeBuiltin('node:buffer')

/** An object that represents a body. */
export interface AssetShape {
  body: FoundBody
  /** The type that the object declares. */
  mime: string | null
  name: string | null
  /** Keys that the reference replaces, without the key of the declared type. All other keys stay. */
  keys: string[]
  /** The key of the declared type. */
  typeKey: string | null
}

export type Fields = Readonly<Record<string, unknown>>

/** Keys under which shapes contain their bytes. */
const DATA_KEYS: ReadonlySet<string> = new Set(
  `dataBase64 dataUrl data blob b64_json base64 bytes image
  result file_data base64Data uint8ArrayData bytesBase64Encoded imageBytes videoBytes`.split(/\s+/),
)

/** Keys that may contain base64 if the object also has a type. */
const BASE64_KEYS = ['data', 'base64', 'b64', 'image', 'audio', 'video', 'file', 'blob', 'bytes']

/** Similar keys that more often contain plain text. */
const CONTENT_KEYS = ['content', 'contents', 'body', 'payload', 'buffer', 'binary', 'raw']
const CLAIMED_KEYS = [...BASE64_KEYS, ...CONTENT_KEYS]
const MAYBE_KEYS: ReadonlySet<string> = new Set(CLAIMED_KEYS)

/** In characters. Shorter base64 stays in place, unless its key is unambiguous. */
const MIN_CLAIMED = 24

/** Returns whether an object with this field may represent a body. It is a cheap test. */
export function mayHoldBody(key: unknown, value: unknown): boolean {
  if (DATA_KEYS.has(key as string)) return true
  return MAYBE_KEYS.has(key as string) && typeof value === 'string' && value.length >= MIN_CLAIMED
}

const COPY_KEYS = 'dataUrl dataBase64 base64 b64_json base64Data bytesBase64Encoded'.split(' ')

/** Keys whose names show that they contain a body. */
const TELLING_KEYS = ['b64_json', 'bytesBase64Encoded', 'imageBytes', 'videoBytes']

/** `mimeType`, `media_type`, `Content-Type`, `fileType`, `mime` … */
const TYPE_KEY = /^(?:(?:mime|media|content|file)[-_ ]?type|mime)$/i

/** Keys that may contain a MIME type or something else. */
const MAYBE_TYPE_KEYS = ['type', 'format']
const MIME_TYPE = /^(?:image|audio|video|application|font|model|text)\/[\w.+-]+(?:;|$)/i

/** Types whose bodies are text. */
const TEXT_TYPE = /^text\/|[/+](?:json|xml|yaml|javascript|csv)\b/i

/** Keys that name only an encoding, not a kind of file. */
const UNTYPED_KEYS = ['base64', 'dataBase64', 'base64Data']
const NAME_KEYS = ['fileName', 'filename', 'file_name', 'name']

/** Bounded, because base64 looks like a scheme until its first `/` or `=`. */
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]{0,63}:/

/** `type`s of objects that have base64 under `data`: MCP, AI SDK, Anthropic. */
const DATA_TYPES = new Set(['image', 'audio', 'file', 'media', 'image-data', 'file-data', 'base64'])

/** Returns whether an object's `assetRef` is a reference. A body in the same object is then a copy. */
export function carriesRef(assetRef: unknown): boolean {
  return typeof assetRef === 'string' && isAssetRef(assetRef)
}

/** Returns the keys under which an object repeats its body as text. */
export function copiedKeys(fields: Fields): string[] {
  return COPY_KEYS.filter((key) => {
    const value = fields[key]
    if (typeof value !== 'string') return false
    return readDataUrl(value) !== null || (key !== 'dataUrl' && !SCHEME.test(value))
  })
}

/**
 * Returns the body that an object stands for, or null. `parentKey` is the key that the object was found under.
 * - byref: `{ mimeType, dataBase64 }`, `{ dataUrl }`
 * - MCP: `{ type: 'image' | 'audio', data, mimeType }`, `{ uri, mimeType, blob }`; without `mimeType`, a `blob` that is
 * base64 beyond doubt
 * - OpenAI: `{ b64_json }`, `input_audio: { data, format }`, `{ type: 'image_generation_call', result }`,   `{ type:
 * 'input_file', file_data }`, `file: { file_data }`, `audio: { data, transcript }` of a message
 * - Anthropic: `{ type: 'base64', media_type, data }`
 * - Google: `inlineData: { mimeType, data }`, `{ bytesBase64Encoded }`, `{ imageBytes }`, `{ videoBytes }`
 * - AI SDK: `{ type: 'file', mediaType, data }`, `{ type: 'image', image }`, without `mediaType` where its bytes are an
 * image; `{ mediaType, base64 }`; generated files, `{ mediaType, base64Data, uint8ArrayData }`
 * - Node: the JSON of a Buffer
 * - others: base64 under any of the usual keys next to a MIME type, or `{ base64, filename }`
 */
export function shapeOf(fields: Fields, parentKey: unknown): AssetShape | null {
  const typeKey = typeKeyOf(fields)
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

function typeKeyOf(fields: Fields): string | undefined {
  const key = Object.keys(fields).find((one) => TYPE_KEY.test(one))
  if (key !== undefined && typeof fields[key] === 'string') return key
  return MAYBE_TYPE_KEYS.find((one) => {
    const type = fields[one]
    return typeof type === 'string' && MIME_TYPE.test(type)
  })
}

/**
 * Returns an object that has an `assetRef` without the bytes that it carries as well: base64 and data URLs as whole
 * values, and bytes. Text that contains a data URL stays, and so does `text` from `fetch_asset`. Any other value is
 * returned unchanged. `parentKey` is the key that the object was found under.
 */
export function withoutCarriedBytes(value: object, parentKey: unknown): object {
  const fields: Fields = value instanceof Map ? Object.fromEntries(value) : (value as Fields)
  if (!carriesRef(fields.assetRef)) return value
  const copies = new Set([...copiedKeys(fields), ...shapedKeys(fields, parentKey)])
  const entries = Object.entries(fields)
  const kept = entries.filter(
    ([key, item]) => key === 'text' || !(copies.has(key) || isBytes(item)),
  )
  return kept.length === entries.length ? value : Object.fromEntries(kept)
}

/** Returns the keys of the bytes that would be a body if there were no reference. */
function shapedKeys(fields: Fields, parentKey: unknown): string[] {
  const shape = shapeOf(fields, parentKey)
  const isBroken = shape?.body.type === 'base64' && decodeBase64(shape.body.text) === null
  return shape && !isBroken ? shape.keys : []
}

function isBytes(item: unknown): boolean {
  if (typeof item === 'string') return parseDataUrl(item) !== null || isBase64File(item)
  return typeof item === 'object' && item !== null && binaryBody(item) !== null
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
    return { body: { type: 'binary', input: Uint8Array.from(data) }, keys: ['type', 'data'] }
  }
  if (type === 'image' && 'image' in fields && (claim !== null || isBase64File(fields.image))) {
    return under(fields, 'image')
  }
  return claim === null
    ? findUntyped(fields)
    : (findData(fields, parentKey) ?? findClaimed(fields, claim))
}

/** Finds base64 in an object with a type, if nothing else shows that it is base64. */
function findClaimed(fields: Fields, claim: string): Found | null {
  const isText = TEXT_TYPE.test(claim)
  const key = CLAIMED_KEYS.find((one) => {
    const value = fields[one]
    if (typeof value !== 'string' || value.length < MIN_CLAIMED) return false
    if (isBase64File(value)) return true
    if (!isText) return isSurelyBase64(value)
    return BASE64_KEYS.includes(one) && isEncodedText(value)
  })
  return key === undefined ? null : under(fields, key)
}

/** Finds a file without a type, by its bytes or by a name in the same object. */
function findUntyped(fields: Fields): Found | null {
  const key = UNTYPED_KEYS.find((one) => typeof fields[one] === 'string')
  if (key === undefined) return null
  const isNamed = NAME_KEYS.some((one) => typeof fields[one] === 'string')
  return isBase64File(fields[key]) || (isNamed && isSurelyBase64(fields[key]))
    ? under(fields, key)
    : null
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
  if (found) return found
  // A generated file of the AI SDK has its body as base64, as bytes, or as both.
  const generated = under(fields, 'base64Data') ?? binaryUnder(fields, 'uint8ArrayData')
  return generated && { ...generated, keys: ['base64Data', 'uint8ArrayData'] }
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

/** Returns the body under a key: base64 text, a data URL, or bytes. An ordinary URL is not a body. */
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
  const url = readDataUrl(text)
  return url && { type: 'data-url', url }
}

function isByteList(value: unknown): value is number[] {
  return (
    Array.isArray(value) &&
    value.every((byte) => Number.isInteger(byte) && byte >= 0 && byte <= 255)
  )
}

/** Returns whether text has a form that only base64 has: it is not a name, and not a hash. */
function isSurelyBase64(text: unknown): boolean {
  if (typeof text !== 'string' || text.length < 64) return false
  return text.length % 4 === 0 && !/^[0-9a-f]*$/i.test(text) && decodeBase64(text) !== null
}

/** Returns whether text is the base64 of readable text. Words that look like base64 decode to something else. */
function isEncodedText(text: string): boolean {
  const bytes = decodeBase64(text)
  return bytes !== null && isUtf8(bytes) && !CONTROL.test(Buffer.from(bytes).toString())
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\u0000-\u0008\u000e-\u001f\u007f]/
