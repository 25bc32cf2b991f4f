import { isPlainObject, type JsonValue } from '../core/json/json.ts'
import { embeddedMedia, type KnownAssets, mediaOf, noteBareNames, wholeRef } from './named-media.ts'
import type { MediaPart } from './transcript-item.ts'

/** The assets that a value names. */
export interface FoundBodies {
  names: Set<string>
  previewed: Set<string>
  media: MediaPart[]
  fetched: MediaPart[]
}

/** Finds every asset that a result names, and those among them that a model can see or hear. */
export function bodiesIn(value: JsonValue, known: KnownAssets): FoundBodies {
  const found: FoundBodies = {
    names: new Set(),
    previewed: new Set(),
    media: [],
    fetched: [],
  }
  const waiting: unknown[] = [value]
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    if (typeof one === 'string') {
      noteBareNames(one, known, found.names)
      if (!one.includes('<|')) continue
      const embedded = embeddedMedia(one, known, found.names).filter(isPerceived)
      found.media.push(...embedded.map((part) => ({ ...part, otherwise: 'type' as const })))
    } else if (typeof one === 'object' && one !== null) {
      if (isPlainObject(one)) noteBody(one, known, found)
      // Push in reverse, because the stack is read from its end.
      waiting.push(...Object.values(one).reverse())
    }
  }
  return found
}

function noteBody(
  { assetRef, mimeType, fetched, offloaded, start, end, lines, hits }: Record<string, unknown>,
  known: KnownAssets,
  found: FoundBodies,
): void {
  const whole = typeof assetRef === 'string' ? wholeRef(assetRef) : null
  if (whole === null) return
  found.names.add(whole)
  if (offloaded === true) found.previewed.add(whole)
  // The result of a read or a search is text: do not add the file itself.
  if (typeof lines === 'number' || Array.isArray(hits)) return
  const media = { ...mediaOf(assetRef as string, known.get(whole)), otherwise: 'type' as const }
  if (typeof mimeType === 'string') {
    media.mimeType = mimeType
    media.kind = kindOf(mimeType)
  }
  if (fetched === true) {
    // A range of an image's bytes is not an image.
    const isWhole = start === undefined && end === undefined
    if (isWhole) found.fetched.push({ ...media, otherwise: 'note' })
  } else if (isPerceived(media)) found.media.push(media)
}

/** Whether a model sees or hears this kind. Text and data are read by reference. */
export function isPerceived({ kind, mimeType }: Pick<MediaPart, 'kind' | 'mimeType'>): boolean {
  return kind !== 'file' || mimeType === 'application/pdf'
}

/** Returns the kind of a MIME type. */
export function kindOf(mimeType: string): MediaPart['kind'] {
  const [kind] = mimeType.toLowerCase().split('/', 1)
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'file'
}
