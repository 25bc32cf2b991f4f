import type { Assets } from '../../assets/assets-contract.ts'
import { inParallel } from '../../assets/in-parallel.ts'
import type { ModelCapabilities } from '../../model/capabilities.ts'
import type { MediaPart, ResolvedItem, TranscriptItem } from '../transcript-item.ts'
import { fitIntoCall } from './fit-into-call.ts'
import type { MediaCache } from './media-cache.ts'
import { createPartMaker } from './part-maker.ts'
import { createStandings } from './standings.ts'

/** Where bodies come from, and what a model takes of them. */
export interface MediaSource {
  capabilities: ModelCapabilities
  /** In the namespace of the conversation. */
  assets: Pick<Assets, 'info' | 'get' | 'open' | 'meta' | 'urlFor' | 'resolve' | 'config'>
  /** That namespace; null where there is none. What is kept for one is never given to another. */
  namespace: string | null
  cache: MediaCache
  /** `none`: notes alone, nothing is read. Default: `all`. */
  media?: 'all' | 'none'
  options?: MediaOptions
  /** Told once per body of what could be better, such as a library to install. */
  onDiagnostic?(message: string): void
  /** References of bodies that are not there any more, whatever the cache still has of them. */
  gone?: ReadonlySet<string>
  /** Told of each body that is not there. */
  onMissing?(ref: string): void
}

/** How bodies become parts. */
export interface MediaOptions {
  /** Pixels of the long side above which a large image is made smaller. Default: 2048. */
  imageMaxSide?: number
  /** Characters of text that are shown of one body. Default: 16,000. */
  maxTextChars?: number
}

/** Bodies that are read at the same time. */
const AT_ONCE = 6

/**
 * The items with every body as a part that the model takes, or as words (spec L1–L7). Bodies are read in parallel, each
 * once; what the cache holds costs no I/O. Equal bodies are sent once, and more than one call may carry is left out, the
 * oldest first. Items without media are given back as they are.
 */
export async function resolveMedia(
  items: readonly TranscriptItem[],
  source: MediaSource,
): Promise<ResolvedItem[]> {
  const parts = items.flatMap(mediaOf)
  const standings = createStandings(source)
  const missing = source.media === 'none' ? [] : parts.filter((part) => !standings.find(part))
  if (missing.length > 0) {
    await inParallel(missing, { limit: AT_ONCE }, (part) => standings.load(part))
  }
  const left = fitIntoCall(parts, standings, source.capabilities)
  const make = createPartMaker(standings, left, source)
  return items.map((item): ResolvedItem => {
    if (item.type === 'user' && item.parts.some(isMedia)) {
      return {
        type: 'user',
        parts: item.parts.flatMap((part) => (isMedia(part) ? make(part) : part)),
      }
    }
    if (item.type !== 'results' || mediaOf(item).length === 0) return item as ResolvedItem
    return {
      type: 'results',
      results: item.results.map((result) => ({ ...result, media: result.media.flatMap(make) })),
    }
  })
}

const NONE: readonly MediaPart[] = []

function mediaOf(item: TranscriptItem): readonly MediaPart[] {
  if (item.type === 'user') return item.parts.filter(isMedia)
  if (item.type !== 'results' || item.results.every(({ media }) => media.length === 0)) return NONE
  return item.results.flatMap(({ media }) => media)
}

function isMedia(part: { type: string }): part is MediaPart {
  return part.type === 'media'
}
