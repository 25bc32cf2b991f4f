import { kindOf } from '../assets/bodies/mime-type.ts'
import { defined } from '../core/defined.ts'
import type { AssetCreated } from '../core/events/events.ts'
import { isPlainObject, type JsonObject, type JsonValue } from '../core/json/json.ts'
import { metasBlock } from '../core/messages/metas-block.ts'
import type { ReferenceGuideOptions } from '../core/messages/reference-guide.ts'
import {
  type AssetRef,
  type AssetRefParts,
  formatAssetRef,
  parseAssetRef,
} from '../core/refs/asset-ref.ts'
import { findAssetUrls, findEmbeddedRefs } from '../core/refs/embedded-refs.ts'
import type { MediaPart, TextPart } from './transcript-item.ts'

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

/** Maximum number of assets in one text that the conversation does not know, and that are looked up. */
const MAX_UNKNOWN = 1_000

/**
 * Finds the files among the embedded references in a text. Structured content is left out, because its metadata shows
 * it. Adds the references of all assets to `names`.
 */
export function embeddedMedia(text: string, known: KnownAssets, names: Set<string>): MediaPart[] {
  const seen = new Set<string>()
  let unknown = 0
  return findEmbeddedRefs(text).flatMap(({ ref, start }): MediaPart[] => {
    const url = referenceUrl(ref)
    const whole = wholeRef(ref)
    if (url === null || whole === null || seen.has(url)) return []
    seen.add(url)
    names.add(whole)
    const asset = known.get(whole)
    if (!asset && ++unknown > MAX_UNKNOWN) return []
    if (asset?.structured && url === whole) return []
    const part: MediaPart = { ...mediaOf(url, asset), fallback: 'value' }
    // The URL of an image in Markdown is probably an image.
    if (!asset && /!\[[^\]\n]*\]\($/.test(text.slice(Math.max(0, start - 300), start)))
      part.kind = 'image'
    return [part]
  })
}

/** Adds the known assets that a text names by bare URLs to `names`. */
export function noteBareNames(text: string, known: KnownAssets, names: Set<string>): void {
  for (const url of findAssetUrls(text)) {
    const whole = wholeRef(url)
    if (whole !== null && known.get(whole)) names.add(whole)
  }
}

/** Returns the part for a reference, with what is known about its asset. */
export function mediaOf(ref: string, asset: AssetCreated | undefined): Omit<MediaPart, 'fallback'> {
  const isField = asset !== undefined && asset.ref !== ref
  const {
    kind = 'file',
    mime = 'application/octet-stream',
    size,
    name,
  } = isField ? {} : (asset ?? {})
  return defined({ type: 'media', kind, ref, mimeType: mime, size, fileName: name })
}

/** The assets that a value names. */
export interface FoundBodies {
  names: Set<string>
  previewed: Set<string>
  media: MediaPart[]
  fetched: MediaPart[]
}

/** Finds all assets that a result names, and the files among them that a model can see or hear. */
export function bodiesIn(value: JsonValue, known: KnownAssets): FoundBodies {
  const found: FoundBodies = {
    names: new Set(),
    previewed: new Set(),
    media: [],
    fetched: [],
  }
  const stack: unknown[] = [value]
  for (let item = stack.pop(); item !== undefined; item = stack.pop()) {
    if (typeof item === 'string') {
      noteBareNames(item, known, found.names)
      if (!item.includes('<|')) continue
      const embedded = embeddedMedia(item, known, found.names).filter(isPerceived)
      found.media.push(...embedded.map((part) => ({ ...part, fallback: 'type' as const })))
    } else if (typeof item === 'object' && item !== null) {
      if (isPlainObject(item)) noteBody(item, known, found)
      // Push in reverse, because the stack is read from its end.
      for (const below of Object.values(item).reverse()) stack.push(below)
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
  const media = { ...mediaOf(assetRef as string, known.get(whole)), fallback: 'type' as const }
  if (typeof mimeType === 'string') {
    media.mimeType = mimeType
    media.kind = kindOf(mimeType)
  }
  if (fetched === true) {
    // A part of the bytes of a file is not a file that a model can see.
    const isWhole = start === undefined && end === undefined
    if (isWhole) found.fetched.push({ ...media, fallback: 'note' })
  } else if (isPerceived(media)) found.media.push(media)
}

/** Whether a model sees or hears this kind. Text and data are read by reference. */
export function isPerceived({ kind, mimeType }: Pick<MediaPart, 'kind' | 'mimeType'>): boolean {
  return kind !== 'file' || mimeType === 'application/pdf'
}

/** The texts about references, each added where it first applies. */
export type PlacedTopic = Extract<
  keyof ReferenceGuideOptions,
  'assets' | 'variables' | 'results' | 'reading'
>

/** Returns each text about references, and the metadata of each asset, only once: where it is first needed. */
export class FirstMentions {
  readonly #guide: (topic: PlacedTopic) => string | null
  readonly #assetOf: (ref: string) => AssetCreated | undefined
  readonly #topics = new Set<PlacedTopic>()
  /** The references of the assets whose metadata the model has seen. */
  readonly #seen = new Set<string>()

  constructor(
    guide: (topic: PlacedTopic) => string | null,
    assetOf: (ref: string) => AssetCreated | undefined,
  ) {
    this.#guide = guide
    this.#assetOf = assetOf
  }

  /** Returns the text on a topic; empty if it was added before. */
  topic(topic: PlacedTopic): TextPart[] {
    if (this.#topics.has(topic)) return []
    this.#topics.add(topic)
    const text = this.#guide(topic)
    return text ? [{ type: 'text', text }] : []
  }

  /** Returns the metadata of assets that are named for the first time. */
  metas(names: ReadonlySet<string>): TextPart[] {
    if (names.size === 0) return []
    const fresh = [...names].flatMap((name): JsonObject[] => {
      const meta = this.#seen.has(name) ? undefined : this.#assetOf(name)?.meta
      if (meta) this.#seen.add(name)
      return meta ? [meta] : []
    })
    const text = metasBlock(fresh)
    return [...this.topic('assets'), ...(text === null ? [] : [{ type: 'text' as const, text }])]
  }

  /** Notes that the model has already seen the metadata of an asset. */
  seen(name: string): void {
    this.#seen.add(name)
  }
}
