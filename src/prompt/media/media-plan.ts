import { documentForm } from '../../assets/documents/document-form.ts'
import { limitOf, type ModelCapabilities, topLevel } from '../../models/model-capabilities.ts'
import type { MediaPart } from '../transcript-item.ts'
import type { MediaFacts } from './media-facts.ts'

/** What becomes of a body for one model. */
export type MediaPlan =
  /** It goes as it is, by URL where the store has one that fits a pattern of `byUrl`. */
  | { type: 'part'; mime: string; byUrl: readonly string[]; maxPages: number | null }
  /** An image that is re-encoded where it must be: one of `types`, within the limits. */
  | {
      type: 'image'
      mime: string
      types: readonly string[]
      maxSide: number
      maxBytes: number
      byUrl: readonly string[]
    }
  /** Its words. */
  | { type: 'text'; by: 'text' | 'document'; maxChars: number; byUrl: readonly string[] }
  /** A value that is shown if it is short, else its outline. */
  | { type: 'value' }
  | { type: 'note'; why: string }

/** What plans are made by. */
export interface PlanOptions {
  capabilities: ModelCapabilities
  imageMaxSide: number
  inlineThresholdBytes: number
  maxTextChars: number
}

const PDF = 'application/pdf'
const TEXT =
  /^text\/|^application\/(json|xml|yaml|x-ndjson|javascript|sql|toml|x-sh)$|\+(json|xml)$/

/** More than this is not read for a model, however small it could be made. */
const MAX_READ = 100_000_000

/** What a body becomes, by what is known of it alone. */
export function mediaPlan(
  facts: MediaFacts,
  otherwise: MediaPart['otherwise'],
  options: PlanOptions,
): MediaPlan {
  const { mime, size } = facts
  const { capabilities, inlineThresholdBytes, maxTextChars } = options
  const { maxPdfPages } = capabilities
  const limit = limitOf(capabilities.takes, mime)
  if (size === 0 && !facts.isValue) return note('it is empty')
  // What browsers do not show, sharp does not decode everywhere.
  const isCameraImage = /^image\/hei[cf]$/.test(mime) && limit !== null
  if (topLevel(mime) === 'image' && !isCameraImage) {
    const image = imagePlan(facts, options)
    if (image) return image
  }
  if (otherwise === 'short' && !isCameraImage) return { type: 'value' }
  if (facts.isValue && otherwise !== 'type' && topLevel(mime) !== 'image') {
    return { type: 'text', by: 'text', maxChars: maxTextChars, byUrl: [] }
  }
  if (limit !== null && size <= limit) {
    return {
      type: 'part',
      mime,
      byUrl: size > inlineThresholdBytes ? patternsOf(capabilities, mime).map(String) : [],
      // Infinity has no JSON, by which plans are compared.
      maxPages: mime === PDF && Number.isFinite(maxPdfPages) ? maxPdfPages : null,
    }
  }
  const by = otherwise === 'type' ? null : textOf(mime)
  if (by && (by === 'text' || size <= MAX_READ)) {
    // Some take documents by URL alone; text is better off in the prompt.
    const byUrl = mime === PDF && limit === null ? patternsOf(capabilities, mime).map(String) : []
    return { type: 'text', by, maxChars: maxTextChars, byUrl }
  }
  if (limit !== null) return note(`it is larger than the ${limit} bytes that the model takes`)
  return note('the model takes none of this type')
}

/** Whether the model's provider fetches the URL of a body of the type. */
export function isFetched(capabilities: ModelCapabilities, mime: string, url: string): boolean {
  return patternsOf(capabilities, mime).some((pattern) => pattern.test(url))
}

function patternsOf({ urls }: ModelCapabilities, mime: string): RegExp[] {
  return Object.entries(urls).flatMap(([type, patterns]) => {
    const fits = /^\*(\/\*)?$/.test(type) || type === mime || type === `${topLevel(mime)}/*`
    return fits ? [...patterns] : []
  })
}

/** Null where the model sees nothing. */
function imagePlan({ mime, size }: MediaFacts, options: PlanOptions): MediaPlan | null {
  const { capabilities, imageMaxSide, inlineThresholdBytes } = options
  const { takes } = capabilities
  const seen = ['image/png', 'image/jpeg', 'image/webp'].filter(
    (type) => limitOf(takes, type) !== null,
  )
  // `image/*` says that every type is taken, which no model does: what browsers show is.
  const isTaken =
    mime in takes || seen.includes(mime) || (mime === 'image/gif' && limitOf(takes, mime) !== null)
  if (!isTaken && seen.length === 0) return null
  if (size > MAX_READ)
    return note(`it is larger than the ${MAX_READ} bytes that are read for a model`)
  const maxBytes = Math.min(
    ...[...seen, ...(isTaken ? [mime] : [])].map((type) => limitOf(takes, type) ?? 0),
  )
  const isLarge = size > inlineThresholdBytes
  return {
    type: 'image',
    mime,
    types: isTaken ? [mime, ...seen.filter((type) => type !== mime)] : seen,
    // A small body may still have more pixels than the provider decodes.
    maxSide: isLarge
      ? Math.min(imageMaxSide, capabilities.maxImageSide)
      : capabilities.maxImageSide,
    maxBytes,
    byUrl: isTaken && isLarge && size <= maxBytes ? patternsOf(capabilities, mime).map(String) : [],
  }
}

function textOf(mime: string): 'text' | 'document' | null {
  if (documentForm(mime)) return 'document'
  return TEXT.test(mime) ? 'text' : null
}

function note(why: string): MediaPlan {
  return { type: 'note', why }
}
