import type { AssetCreated } from '../core/events/events.ts'
import {
  type AssetRef,
  type AssetRefParts,
  formatAssetRef,
  parseAssetRef,
} from '../core/refs/asset-ref.ts'
import { findAssetUrls, findEmbeddedRefs } from '../core/refs/embedded-refs.ts'
import type { MediaPart } from './transcript-item.ts'

/** The assets that a conversation had when a message arrived, by reference. */
export type KnownAssets = Pick<ReadonlyMap<string, AssetCreated>, 'get'>

/** Returns the reference of the whole asset, without a field; null for other text. */
export function wholeRef(ref: unknown): string | null {
  const parts = partsOf(ref)
  return parts && formatAssetRef({ ...parts, fieldPath: [] })
}

/** Converts a reference in any form to a URL; null for other text, and for an invalid path. */
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

/**
 * Finds the embedded references in a text that are files. Structured content is left out, because its metadata
 * shows it. Adds the names to `names`.
 */
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
    // An image in Markdown is probably an image.
    if (!asset && /!\[[^\]\n]*\]\($/.test(text.slice(Math.max(0, start - 300), start)))
      part.kind = 'image'
    return [part]
  })
}

/** Adds the known assets that a text names by bare URLs. */
export function noteBareNames(text: string, known: KnownAssets, names: Set<string>): void {
  for (const url of findAssetUrls(text)) {
    const whole = wholeRef(url)
    if (whole !== null && known.get(whole)) names.add(whole)
  }
}

/** Returns the part for a reference, with what is known about its asset. */
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
