import type { AssetKind } from '../../assets/asset-store.ts'
import { documentForm, isTextType } from '../../assets/bodies/mime-type.ts'
import {
  isFullType,
  limitOf,
  type ModelCapabilities,
  topLevel,
} from '../../models/model-capabilities.ts'
import type { MediaPart } from '../transcript-item.ts'
import { IMAGE_MAX_SIDE, type MediaSource } from './media-source.ts'

/** What is known about a body before it is read. */
export interface MediaFacts {
  /** The MIME type without parameters. */
  mime: string
  kind: AssetKind
  size: number
  name: string | null
  /** The digest: equal for equal bodies. */
  identity: string
  /** Whether the reference leads to a field, or to structured content. */
  isValue: boolean
}

/** How a body is sent to one model. */
export type MediaPlan =
  /** Unchanged. By URL if the store has one that matches `byUrl`. */
  | { type: 'part'; mime: string; byUrl: readonly string[]; maxPages: number | null }
  /** As an image, re-encoded if necessary to one of `types`, within the limits. */
  | {
      type: 'image'
      mime: string
      types: readonly string[]
      maxSide: number
      maxBytes: number
      byUrl: readonly string[]
    }
  /** As text. */
  | { type: 'text'; by: 'text' | 'document'; byUrl: readonly string[] }
  /** As a value if it is short, else as its outline. */
  | { type: 'value' }
  | { type: 'note'; why: string }

const PDF = 'application/pdf'

/** Maximum size of a body that is read for a model, in bytes, even if it could be scaled down. */
const MAX_READ = 100_000_000

/** Plans how to send a body, from its facts alone. */
export function mediaPlan(
  facts: MediaFacts,
  fallback: MediaPart['fallback'],
  source: MediaSource,
): MediaPlan {
  const { mime, size } = facts
  const { capabilities } = source
  const { maxPdfPages } = capabilities
  const { inlineThresholdBytes } = source.assets.config
  const limit = limitOf(capabilities.takes, mime)
  if (size === 0 && !facts.isValue) return note('it is empty')
  // On some machines, sharp cannot decode HEIC and HEIF, which browsers do not show either.
  const isCameraImage = /^image\/hei[cf]$/.test(mime) && limit !== null
  if (topLevel(mime) === 'image' && !isCameraImage) {
    const image = imagePlan(facts, source)
    if (image) return image
  }
  if (fallback === 'value' && !isCameraImage) return { type: 'value' }
  if (facts.isValue && fallback !== 'type' && topLevel(mime) !== 'image') {
    return { type: 'text', by: 'text', byUrl: [] }
  }
  if (limit !== null && size <= limit) {
    return {
      type: 'part',
      mime,
      byUrl: size > inlineThresholdBytes ? patternsOf(capabilities, mime).map(String) : [],
      // Plans are compared as JSON, which has no Infinity.
      maxPages: mime === PDF && Number.isFinite(maxPdfPages) ? maxPdfPages : null,
    }
  }
  const by = fallback === 'type' ? null : textOf(mime)
  if (by && (by === 'text' || size <= MAX_READ)) {
    // Some models accept documents only by URL. Other text is sent in the prompt.
    const byUrl = mime === PDF && limit === null ? patternsOf(capabilities, mime).map(String) : []
    return { type: 'text', by, byUrl }
  }
  if (limit !== null) return note(`it is larger than the ${limit} bytes that the model accepts`)
  return note('the model does not accept this type')
}

/** Whether the model may get a file of this type, in any form but text. */
export function acceptsFile(
  capabilities: ModelCapabilities,
  { ref, mimeType: mime }: Pick<MediaPart, 'ref' | 'mimeType'>,
): boolean {
  const { takes } = capabilities
  if (!isFullType(mime) || patternsOf(capabilities, mime).length > 0) return true
  if (!ref.startsWith('asset:')) return false
  // Images are converted.
  const isImage = topLevel(mime) === 'image'
  return isImage
    ? Object.keys(takes).some((type) => topLevel(type) === 'image')
    : limitOf(takes, mime) !== null
}

/** Whether the model's provider fetches URLs of this type itself, and the model accepts what is there. */
export function isFetched(capabilities: ModelCapabilities, mime: string, url: string): boolean {
  const { takes } = capabilities
  const isImage = topLevel(mime) === 'image' && isFullType(mime)
  // Providers fetch all images, but reject those whose type the model does not accept.
  const knowsImages = isImage && Object.keys(takes).some((type) => topLevel(type) === 'image')
  if (knowsImages && limitOf(takes, mime) === null) return false
  return patternsOf(capabilities, mime).some((pattern) => pattern.test(url))
}

function patternsOf({ urls }: ModelCapabilities, mime: string): RegExp[] {
  return Object.entries(urls).flatMap(([type, patterns]) => {
    const fits = /^\*(\/\*)?$/.test(type) || type === mime || type === `${topLevel(mime)}/*`
    return fits ? [...patterns] : []
  })
}

/** Returns the plan for an image. Null if the model does not accept images. */
function imagePlan({ mime, size }: MediaFacts, source: MediaSource): MediaPlan | null {
  const { capabilities, options } = source
  const { takes, maxImageSide } = capabilities
  const seen = ['image/png', 'image/jpeg', 'image/webp'].filter(
    (type) => limitOf(takes, type) !== null,
  )
  // No model accepts every `image/*`, so of these, assume only the types that browsers show.
  const isTaken =
    mime in takes || seen.includes(mime) || (mime === 'image/gif' && limitOf(takes, mime) !== null)
  if (!isTaken && seen.length === 0) return null
  if (size > MAX_READ)
    return note(`it is larger than the ${MAX_READ} bytes that are read for a model`)
  const maxBytes = Math.min(
    ...[...seen, ...(isTaken ? [mime] : [])].map((type) => limitOf(takes, type) ?? 0),
  )
  const isLarge = size > source.assets.config.inlineThresholdBytes
  // A GIF may be an animation, which OpenAI rejects.
  const isLinked = isTaken && isLarge && size <= maxBytes && mime !== 'image/gif'
  return {
    type: 'image',
    mime,
    types: isTaken ? [mime, ...seen.filter((type) => type !== mime)] : seen,
    // A small file may have more pixels than the provider accepts.
    maxSide: isLarge
      ? Math.min(options?.imageMaxSide ?? IMAGE_MAX_SIDE, maxImageSide)
      : maxImageSide,
    maxBytes,
    byUrl: isLinked ? patternsOf(capabilities, mime).map(String) : [],
  }
}

function textOf(mime: string): 'text' | 'document' | null {
  if (documentForm(mime)) return 'document'
  return isTextType(mime) ? 'text' : null
}

function note(why: string): MediaPlan {
  return { type: 'note', why }
}
