import { escapeBlocks } from '../content/escape-blocks.ts'
import type { AssetCreated } from '../content/events.ts'
import type { Attachment, Message } from '../content/message.ts'
import { type ReadMedia, readParts } from '../content/message-parts.ts'
import { readMetadata } from '../content/read-metadata.ts'
import {
  type AssetRef,
  type AssetRefParts,
  formatAssetRef,
  isAssetRef,
  parseAssetRef,
} from '../refs/asset-ref.ts'
import { findEmbeddedRefs } from '../refs/embedded-refs.ts'
import type { MediaPart, TextPart } from './transcript-item.ts'

/** What a conversation knew of its assets when a message came, by their whole references. */
export type KnownAssets = Pick<ReadonlyMap<string, AssetCreated>, 'get'>

/** What a message shows, and the assets that it names. */
export interface ShownMessage {
  parts: (TextPart | MediaPart)[]
  /** Whole references, each once. */
  names: ReadonlySet<string>
}

/** What a message of anybody but the model shows: its words, then what it carries, each behind its marker (spec L2, L6). */
export function userParts(message: Message, known: KnownAssets): ShownMessage {
  const parts: (TextPart | MediaPart)[] = []
  const names = new Set<string>()
  const embedded: MediaPart[] = []
  for (const part of contentParts(message)) {
    if (part.type === 'media') {
      parts.push(...attachedParts(part, known, names))
      continue
    }
    if (part.text === '') continue
    parts.push({ type: 'text', text: escapeBlocks(part.text) })
    embedded.push(...embeddedMedia(part.text, known, names))
  }
  for (const attachment of readMetadata(message).attachments) {
    parts.push(...attachedParts(fromAttachment(attachment), known, names))
  }
  const shown = new Set(parts.flatMap((part) => (part.type === 'media' ? part.ref : [])))
  return { parts: [...parts, ...embedded.filter(({ ref }) => !shown.has(ref))], names }
}

/** The reference to the asset itself, whatever field a reference leads to; null for what is none. */
export function wholeRef(ref: unknown): string | null {
  const parts = partsOf(ref)
  return parts && formatAssetRef({ ...parts, fieldPath: [] })
}

/** A reference in any form as a URL; null for what is none, and for a path that leads out of every asset. */
function referenceUrl(ref: unknown): string | null {
  const parts = partsOf(ref)
  try {
    return parts && formatAssetRef(parts)
  } catch {
    return null
  }
}

function partsOf(ref: unknown): AssetRefParts | null {
  if (typeof ref !== 'string' && (typeof ref !== 'object' || ref === null)) return null
  return parseAssetRef(ref as string | AssetRef)
}

/** `[Attached image: asset_id="…"]` (binary-assets.md, "Message Attachments"), with the file's name and the field. */
export function marker({
  kind,
  ref,
  fileName,
}: Pick<MediaPart, 'kind' | 'ref' | 'fileName'>): string {
  const name = fileName ? ` name=${JSON.stringify(fileName)}` : ''
  if (!isAssetRef(ref)) return `[Attached ${kind}: url=${JSON.stringify(ref)}${name}]`
  const { id, fieldPath } = parseAssetRef(ref) ?? { id: ref }
  const field = fieldPath ? ` ref=${JSON.stringify(ref)}` : ''
  return `[Attached ${kind}: asset_id=${JSON.stringify(id)}${name}${field}]`
}

/** The bodies named between marks in a text, but structured content, which its meta shows; notes the names. */
export function embeddedMedia(text: string, known: KnownAssets, names: Set<string>): MediaPart[] {
  const seen = new Set<string>()
  return findEmbeddedRefs(text).flatMap(({ ref }): MediaPart[] => {
    const url = referenceUrl(ref)
    const whole = wholeRef(ref)
    if (url === null || whole === null || seen.has(url)) return []
    seen.add(url)
    names.add(whole)
    const asset = known.get(whole)
    if (asset?.structured && url === whole) return []
    return [{ ...mediaOf(url, asset), otherwise: 'short' }]
  })
}

/** What is known of a body. */
export function mediaOf(
  ref: string,
  asset: AssetCreated | undefined,
): Omit<MediaPart, 'otherwise'> {
  const isField = asset !== undefined && asset.ref !== ref
  const {
    kind = 'file',
    mime = 'application/octet-stream',
    size,
    name,
  } = isField ? {} : (asset ?? {})
  return {
    ...{ type: 'media', kind, ref, mimeType: mime },
    ...(size === undefined ? {} : { size }),
    ...(name === undefined ? {} : { fileName: name }),
  }
}

function attachedParts(
  media: ReadMedia,
  known: KnownAssets,
  names: Set<string>,
): (TextPart | MediaPart)[] {
  const whole = wholeRef(media.ref)
  const asset = whole === null ? undefined : known.get(whole)
  if (whole !== null) names.add(whole)
  const text: TextPart = { type: 'text', text: marker(media) }
  if (asset?.structured) return [text]
  const part = { ...mediaOf(media.ref, asset), ...media }
  // What is known of the body is truer than a claim such as `image/*`.
  if (asset?.ref === media.ref) part.mimeType = asset.mime
  return [text, { ...part, otherwise: 'note' }]
}

function contentParts({ content, content_type }: Message): ReturnType<typeof readParts> {
  if (typeof content === 'string' && content_type !== 'asset_ref')
    return [{ type: 'text', text: content }]
  if (content === null || content === undefined) return []
  if (content_type === 'multipart/mixed') return readParts(content)
  const ref = content_type === 'asset_ref' ? referenceUrl(content) : null
  if (ref) return [{ type: 'media', kind: 'file', ref, mimeType: 'application/octet-stream' }]
  return [{ type: 'text', text: JSON.stringify(content) ?? '' }]
}

function fromAttachment({ kind, assetRef, mimeType, ...rest }: Attachment): ReadMedia {
  const { fileName, detail, format } = rest
  return {
    ...{ type: 'media', kind, ref: assetRef, mimeType },
    ...(typeof fileName === 'string' ? { fileName } : {}),
    ...(typeof detail === 'string' ? { detail } : {}),
    ...(typeof format === 'string' ? { format } : {}),
  }
}
