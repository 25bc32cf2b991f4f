import type { AssetCreated } from '../core/events/events.ts'
import {
  type AssetRef,
  type AssetRefParts,
  formatAssetRef,
  parseAssetRef,
} from '../core/refs/asset-ref.ts'
import { findAssetUrls, findEmbeddedRefs } from '../core/refs/embedded-refs.ts'
import type { MediaPart } from './transcript-item.ts'

/** What a conversation knew of its assets when a message came, by their whole references. */
export type KnownAssets = Pick<ReadonlyMap<string, AssetCreated>, 'get'>

/** The reference to the asset itself, whatever field a reference leads to; null for other text. */
export function wholeRef(ref: unknown): string | null {
  const parts = partsOf(ref)
  return parts && formatAssetRef({ ...parts, fieldPath: [] })
}

/** A reference in any form as a URL; null for other text, and for a path that leads out of every asset. */
export function referenceUrl(ref: unknown): string | null {
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

/** The bodies named between marks in a text, but structured content, which its meta shows; notes the names. */
export function embeddedMedia(text: string, known: KnownAssets, names: Set<string>): MediaPart[] {
  const seen = new Set<string>()
  return findEmbeddedRefs(text).flatMap(({ ref, start }): MediaPart[] => {
    const url = referenceUrl(ref)
    const whole = wholeRef(ref)
    if (url === null || whole === null || seen.has(url)) return []
    seen.add(url)
    names.add(whole)
    const asset = known.get(whole)
    if (asset?.structured && url === whole) return []
    const part: MediaPart = { ...mediaOf(url, asset), otherwise: 'short' }
    // What Markdown shows as an image is one, as far as anybody can tell.
    if (!asset && /!\[[^\]\n]*\]\($/.test(text.slice(Math.max(0, start - 300), start)))
      part.kind = 'image'
    return [part]
  })
}

/** Notes the assets that a text names by bare URLs, as far as they are known. */
export function noteBareNames(text: string, known: KnownAssets, names: Set<string>): void {
  for (const url of findAssetUrls(text)) {
    const whole = wholeRef(url)
    if (whole !== null && known.get(whole)) names.add(whole)
  }
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
    type: 'media',
    kind,
    ref,
    mimeType: mime,
    ...(size === undefined ? {} : { size }),
    ...(name === undefined ? {} : { fileName: name }),
  }
}
