import { isPlainObject } from '../json/json.ts'
import { formatAssetRef, isAssetRef, parseAssetRef } from '../refs/asset-ref.ts'
import { canonicalPart, type PartType, partType } from './canonical-part.ts'

/** Text among the parts of a message. */
export interface ReadText {
  type: 'text'
  text: string
}

/** A body among the parts of a message. */
export interface ReadMedia {
  type: 'media'
  kind: 'image' | 'audio' | 'video' | 'file'
  /** `asset://…`, or an `http:` or `https:` URL from the message. */
  ref: string
  /** As specific as is known: `image/png`, `image/*`, `application/octet-stream`. */
  mimeType: string
  fileName?: string
  detail?: string
  format?: string
}

/**
 * Returns the parts of a message in order, in any supported format ({@link canonicalPart}). Nothing is
 * dropped: an unknown part becomes a text that describes it. Never throws.
 */
export function readParts(content: unknown): (ReadText | ReadMedia)[] {
  const parts = Array.isArray(content) ? content : content === undefined ? [] : [content]
  return parts.map(readPart)
}

function readPart(given: unknown): ReadText | ReadMedia {
  const part = canonicalPart(given)
  if (!isPlainObject(part)) return asText(`[part that is ${part === null ? 'null' : typeof part}]`)
  const { type, text } = part
  if (type === 'text') return asText(typeof text === 'string' ? text : '[text part without text]')
  const holder = Object.hasOwn(KINDS, partType(part)) ? part[type as PartType] : null
  if (!isPlainObject(holder))
    return asText(`[part of unknown type ${JSON.stringify(type) ?? 'undefined'}]`)
  // OpenAI's `input_file` has its id beside the type.
  return readHolder(type as PartType, { file_id: part.file_id, ...holder })
}

const KINDS = { image_url: 'image', input_audio: 'audio', file: 'file' } as const

function readHolder(type: PartType, holder: Record<string, unknown>): ReadText | ReadMedia {
  const { url, mimeType, filename, detail, format } = holder
  const stored = isPlainObject(url) ? url : {}
  const named = kindOf(stored.kind) ?? kindOf(family(mimeType)) ?? KINDS[type]
  const ref = refOf(url)
  if (ref === null) return asText(unreadable(named, holder))
  const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
  const claim = isText(stored.mimeType) ? stored.mimeType : mimeType
  const fallback = isText(format) && named === 'audio' ? audioType(format) : FALLBACK[named]
  return {
    type: 'media',
    kind: named,
    ref,
    mimeType: isText(claim) ? claim : fallback,
    ...(isText(filename) ? { fileName: filename } : {}),
    ...(isText(detail) ? { detail } : {}),
    ...(isText(format) ? { format } : {}),
  }
}

const FALLBACK = {
  image: 'image/*',
  audio: 'audio/*',
  video: 'video/*',
  file: 'application/octet-stream',
} as const

/** Returns a reference in URL form, or a web URL; null for anything else. */
function refOf(url: unknown): string | null {
  const ref = isPlainObject(url) && 'assetRef' in url ? url.assetRef : url
  if (isAssetRef(ref)) {
    try {
      return formatAssetRef(parseAssetRef(ref as string) ?? { id: '' })
    } catch {
      return null
    }
  }
  return typeof ref === 'string' && /^https?:\/\/\S+$/i.test(ref) ? ref : null
}

/** Describes why a part cannot be shown, without its body. */
function unreadable(kind: string, { url, file_id }: Record<string, unknown>): string {
  // The AI SDK has the ids by provider.
  const [fileId = file_id] = Object.values(Object(Object(url).reference))
  const failed = isPlainObject(url) && isPlainObject(url.assetError) ? url.assetError.message : null
  if (typeof failed === 'string') return `[${kind} that could not be read: ${failed}]`
  if (typeof fileId === 'string')
    return `[${kind} that only its provider can read: ${fileId.slice(0, 100)}]`
  if (typeof url === 'string' && url.length <= 200) return `[unresolved ${kind}: ${url}]`
  return `[${kind} part without a reference]`
}

function audioType(format: string): string {
  return `audio/${format === 'mp3' ? 'mpeg' : format}`
}

function family(mimeType: unknown): string {
  return typeof mimeType === 'string' ? mimeType.slice(0, Math.max(mimeType.indexOf('/'), 0)) : ''
}

function kindOf(value: unknown): ReadMedia['kind'] | null {
  return value === 'image' || value === 'audio' || value === 'video' ? value : null
}

function asText(text: string): ReadText {
  return { type: 'text', text }
}
