import { kindOf } from '../assets/bodies/mime-type.ts'
import type { JsonValue } from '../core/json/json.ts'
import type { Attachment, Message } from '../core/messages/message.ts'
import { type ReadMedia, readParts } from '../core/messages/message-parts.ts'
import { escapeBlocks } from '../core/messages/metas-block.ts'
import { readMetadata } from '../core/messages/read-metadata.ts'
import { isAssetRef, parseAssetRef } from '../core/refs/asset-ref.ts'
import {
  bodiesIn,
  embeddedMedia,
  type KnownAssets,
  mediaOf,
  noteBareNames,
  referenceUrl,
  wholeRef,
} from './mentions.ts'
import type { MediaPart, TextPart } from './transcript-item.ts'

/** The parts of a message, and the assets that it names. */
export interface ShownMessage {
  parts: (TextPart | MediaPart)[]
  /** The references of the assets, each once. */
  names: ReadonlySet<string>
}

/** Converts a message that the model did not write: its text, then its attachments, each with its marker. */
export function userParts(message: Message, known: KnownAssets): ShownMessage {
  const parts: (TextPart | MediaPart)[] = []
  const names = new Set<string>()
  const embedded: MediaPart[] = []
  for (const part of contentParts(message)) {
    if (part.type === 'media') {
      parts.push(...attachedParts(part, { known, names }))
      continue
    }
    if (part.text === '') continue
    parts.push({ type: 'text', text: escapeBlocks(part.text) })
    embedded.push(...embeddedMedia(part.text, known, names))
    noteBareNames(part.text, known, names)
  }
  if (message.content_type === 'command') {
    const found = bodiesIn(message.content as JsonValue, known)
    for (const name of found.names) names.add(name)
    parts.push(...found.media)
  }
  parts.push(...attachmentsOf(message, { known, names }))
  const shown = new Set(parts.flatMap((part) => (part.type === 'media' ? part.ref : [])))
  return { parts: [...parts, ...embedded.filter(({ ref }) => !shown.has(ref))], names }
}

/** Returns the files of an answer: those among its parts, and its attachments. */
export function filesOfAnswer(
  message: Message,
  options: Parameters<typeof attachmentsOf>[1],
): (TextPart | MediaPart)[] {
  const isParts = message.content_type === 'multipart/mixed'
  const files = (isParts ? readParts(message.content) : []).filter(({ type }) => type === 'media')
  return [
    ...files.flatMap((file) => attachedParts(file as ReadMedia, options)),
    ...attachmentsOf(message, options),
  ]
}

/**
 * Returns the attachments of a message, each with its marker. Adds their references to `names`.
 *
 * @param how The first word of the markers. Default: `Attached`.
 */
function attachmentsOf(
  message: Message,
  { known, names, how }: { known: KnownAssets; names: Set<string>; how?: string },
): (TextPart | MediaPart)[] {
  return readMetadata(message).attachments.flatMap((attachment) =>
    attachedParts(fromAttachment(attachment), { known, names, how }),
  )
}

/** Returns the marker of an attachment: `[Attached image: asset_id="…"]`, with the file's name and the field. */
export function marker(
  { kind, ref, fileName }: Pick<MediaPart, 'kind' | 'ref' | 'fileName'>,
  how = 'Attached',
): string {
  const name = fileName ? ` name=${JSON.stringify(fileName)}` : ''
  if (!isAssetRef(ref)) return `[${how} ${kind}: url=${JSON.stringify(ref)}${name}]`
  const { id, fieldPath } = parseAssetRef(ref) ?? { id: ref }
  const field = fieldPath ? ` ref=${JSON.stringify(ref)}` : ''
  return `[${how} ${kind}: asset_id=${JSON.stringify(id)}${name}${field}]`
}

/** Returns the file if the message is only a file, such as one of type `image/png` with a reference as content. */
function wholeMedia(content: unknown, contentType: string): ReadMedia | null {
  if (!/^(?:image|audio|video|application)\/[\w.+-]+$/.test(contentType)) return null
  const { assetRef = content } = Object(content) as { assetRef?: unknown }
  const ref = referenceUrl(assetRef)
  if (ref === null) return null
  return { type: 'media', kind: kindOf(contentType), ref, mimeType: contentType }
}

function attachedParts(
  media: ReadMedia,
  { known, names, how }: Parameters<typeof attachmentsOf>[1],
): (TextPart | MediaPart)[] {
  const whole = wholeRef(media.ref)
  const asset = whole === null ? undefined : known.get(whole)
  if (whole !== null) names.add(whole)
  const text: TextPart = { type: 'text', text: marker(media, how) }
  // The metadata describes the whole asset. Whether a field is an image or a value is known only when it is read.
  if (asset?.structured && media.ref === whole) return [text]
  if (asset?.structured) return [text, { ...mediaOf(media.ref, asset), fallback: 'value' }]
  const part = { ...mediaOf(media.ref, asset), ...media }
  // The asset's own type is more precise than a claim such as `image/*`.
  if (asset?.ref === media.ref) part.mimeType = asset.mime
  return [text, { ...part, fallback: 'note' }]
}

function contentParts({ content, content_type }: Message): ReturnType<typeof readParts> {
  const media = wholeMedia(content, content_type)
  if (media) return [media]
  if (typeof content === 'string' && content_type !== 'asset_ref')
    return [{ type: 'text', text: content }]
  if (content === null || content === undefined) return []
  if (content_type === 'multipart/mixed') return readParts(content)
  const ref = content_type === 'asset_ref' ? referenceUrl(content) : null
  if (ref) return [{ type: 'media', kind: 'file', ref, mimeType: 'application/octet-stream' }]
  return [{ type: 'text', text: JSON.stringify(content) ?? '' }]
}

function fromAttachment({ kind, assetRef, mimeType, ...rest }: Attachment): ReadMedia {
  const { fileName, detail } = rest
  return {
    type: 'media',
    kind,
    ref: assetRef,
    mimeType,
    ...(typeof fileName === 'string' ? { fileName } : {}),
    ...(typeof detail === 'string' ? { detail } : {}),
  }
}
