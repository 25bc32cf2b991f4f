import { isPlainObject } from '../json/json.ts'
import { isAssetRef } from '../refs/asset-ref.ts'

/**
 * The types under which parts with bodies are stored. Each part has an object of the same name, with the body
 * at `url`.
 */
export type PartType = 'image_url' | 'input_audio' | 'file'

type Fields = Record<string, unknown>

/** The stored type for each type name that the APIs use. */
const TYPES: Readonly<Record<string, PartType>> = {
  image_url: 'image_url',
  input_image: 'image_url',
  image: 'image_url',
  input_audio: 'input_audio',
  audio: 'input_audio',
  audio_url: 'input_audio',
  file: 'file',
  input_file: 'file',
  document: 'file',
  media: 'file',
  video: 'file',
  video_url: 'file',
  input_video: 'file',
}

const TEXTS = new Set(['text', 'input_text', 'output_text'])

/** Keys under which a part may have its body, the most common first. */
const BODIES = [
  'url',
  'assetRef',
  'image',
  'audio',
  'video',
  'file_data',
  'data',
  'file_url',
  'fileUri',
  'uri',
  'base64',
  'blob',
  'image_url',
  'dataUrl',
  'dataBase64',
]
const MIME_TYPES = ['mimeType', 'mediaType', 'media_type', 'mime_type']
const NAMES = ['filename', 'fileName', 'file_name', 'name', 'title']

/**
 * Converts a part to the form in which parts are stored. It accepts the formats of OpenAI (`image_url`,
 * `input_audio`, `file`, `input_image`, `input_file`), the AI SDK (`image`, `file`), Anthropic (`image`,
 * `document` with a `source`), Google (`inlineData`, `fileData`) and MCP (`image`, `audio`, `resource`).
 *
 * - `{ type: 'text', text }`
 * - `{ type: 'image_url', image_url: { url, detail?, mimeType? } }`
 * - `{ type: 'input_audio', input_audio: { url, format?, mimeType? } }`
 * - `{ type: 'file', file: { url, filename?, mimeType? } }`, also for video
 *
 * `url` is a reference, a URL, or a body that has yet to become an asset. Other keys stay where they were. A
 * part of unknown form is returned unchanged. Never throws.
 */
export function canonicalPart(part: unknown): unknown {
  if (typeof part === 'string') return { type: 'text', text: part }
  if (!isPlainObject(part)) return part
  const { type } = part
  const isText = typeof part.text === 'string' && (type === undefined || TEXTS.has(partType(part)))
  if (isText) return { ...part, type: 'text' }
  const known = typeof type === 'string' && Object.hasOwn(TYPES, type) ? TYPES[type] : undefined
  const inner = innerOf(part)
  const isBare = type === undefined && (inner.key === 'inlineData' || inner.key === 'fileData')
  const isResource = type === 'resource' && inner.key === 'resource'
  if (!known && !isBare && !isResource) return part
  return canonical(known ?? 'file', part, inner)
}

/** Returns the type of a part; empty if it is not text. The value may not even be convertible to text. */
export function partType({ type }: { readonly type?: unknown }): string {
  return typeof type === 'string' ? type : ''
}

interface Inner {
  key: string | null
  fields: Fields
}

/** Returns the object within a part that holds its body. */
function innerOf(part: Fields): Inner {
  for (const key of [partType(part), 'source', 'inlineData', 'fileData', 'resource']) {
    const fields = part[key]
    // Anthropic's `source` has a `type` key, as a tagged body of the AI SDK has.
    const isHolder = isPlainObject(fields) && (key === 'source' || !isBody(fields))
    if (isHolder) return { key, fields: withTextBody(key, fields) }
  }
  return { key: null, fields: {} }
}

/** Returns the fields of Anthropic's source, or of MCP's resource, with a text in the form of the AI SDK. */
function withTextBody(key: string, fields: Fields): Fields {
  const { text, uri: _, ...described } = fields
  if (key === 'resource' && typeof text === 'string')
    return { ...described, data: { type: 'text', text } }
  if (key !== 'source') return fields
  if (fields.type === 'text' && typeof fields.data === 'string')
    return { ...fields, data: { type: 'text', text: fields.data } }
  const { content, ...rest } = fields
  const blocks = fields.type === 'content' ? textOfBlocks(content) : null
  return blocks === null ? fields : { ...rest, data: { type: 'text', text: blocks } }
}

/** Returns the text of Anthropic's content blocks. Null if one of them is not text. */
function textOfBlocks(content: unknown): string | null {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return null
  const texts = content.map((block) => Object(block).text)
  return texts.every((text) => typeof text === 'string') ? texts.join('\n') : null
}

/**
 * Whether the value is a tagged body of the AI SDK, a reference, or a body that has already become an asset.
 */
function isBody(value: unknown): boolean {
  const { type, assetRef, assetError } = Object(value)
  return (
    isAssetRef(value) ||
    assetRef !== undefined ||
    assetError !== undefined ||
    type === 'data' ||
    type === 'url'
  )
}

function canonical(known: PartType, part: Fields, { key, fields }: Inner): unknown {
  const { type: _, ...outer } = part
  if (key !== null) delete outer[key]
  const held: Record<string, unknown> = key === null ? {} : { ...fields }
  const from = key === null ? outer : held
  const bodyKey = BODIES.find((one) => from[one] !== undefined)
  const mimeType = take(held, MIME_TYPES) ?? take(outer, MIME_TYPES)
  const filename = take(held, NAMES) ?? take(outer, NAMES)
  const body = bodyKey === undefined ? undefined : from[bodyKey]
  if (bodyKey !== undefined) delete from[bodyKey]
  if (key === 'source') delete held.type
  const claim = mimeType ?? (typeof held.format === 'string' ? `audio/${held.format}` : undefined)
  const type = typeOf(known, mimeType)
  const detail =
    type === 'image_url' ? (take(held, ['detail']) ?? take(outer, ['detail'])) : undefined
  const url = withName(toUrl(body, claim), filename)
  const stored = {
    ...held,
    ...(url === undefined ? {} : { url }),
    ...(mimeType !== undefined && typeof url === 'string' ? { mimeType } : {}),
    ...(filename === undefined ? {} : { filename }),
    ...(detail === undefined ? {} : { detail }),
  }
  return { type, [type]: stored, ...outer }
}

/** Returns the type that fits the MIME type if it is known. Video is a file. */
function typeOf(known: PartType, mimeType: string | undefined): PartType {
  if (mimeType?.startsWith('image/')) return 'image_url'
  if (mimeType?.startsWith('audio/')) return 'input_audio'
  return known
}

/** Removes the first text found under one of the keys from the fields and returns it. */
function take(fields: Record<string, unknown>, keys: readonly string[]): string | undefined {
  const key = keys.find((one) => typeof fields[one] === 'string')
  if (key === undefined) return undefined
  const value = fields[key] as string
  delete fields[key]
  return value
}

const SCHEME = /^[a-z][a-z0-9+.-]*:/i

/** Adds the file's name to a body, so that its asset has it. */
function withName(url: unknown, fileName: string | undefined): unknown {
  if (fileName === undefined) return url
  if (typeof url === 'string' && url.startsWith('data:')) return { dataUrl: url, fileName }
  return isPlainObject(url) && 'dataBase64' in url ? { ...url, fileName } : url
}

/** Returns a text as a data URL. An invalid type counts as plain text. */
function textUrl(text: string, mimeType = ''): string {
  const type = /^[\w.+-]+\/[\w.+-]+$/.test(mimeType) ? mimeType : 'text/plain'
  return `data:${type},${encodeURIComponent(text.toWellFormed())}`
}

/** Returns the body as a URL if it is one; otherwise in a form that becomes an asset. */
function toUrl(body: unknown, mimeType: string | undefined): unknown {
  if (body instanceof URL) return body.href
  if (typeof body === 'string') {
    return SCHEME.test(body.slice(0, 40))
      ? body
      : { mimeType: mimeType ?? 'application/octet-stream', dataBase64: body }
  }
  if (isPlainObject(body)) {
    if (body.type === 'data') return toUrl(body.data, mimeType)
    if (body.type === 'url') return toUrl(body.url, mimeType)
    if (body.type === 'text' && typeof body.text === 'string') return textUrl(body.text, mimeType)
    return body
  }
  const isBytes = typeof body === 'object' && body !== null && mimeType !== undefined
  return isBytes ? { mimeType, dataBase64: body } : body
}
