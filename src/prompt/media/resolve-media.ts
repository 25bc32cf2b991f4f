import { inParallel } from '../../assets/in-parallel.ts'
import type { MediaPart, ResolvedItem, TranscriptItem } from '../transcript-item.ts'
import { fitIntoCall } from './fit-into-call.ts'
import type { MediaSource } from './media-source.ts'
import { createPartMaker } from './part-maker.ts'
import { createStandings } from './standings.ts'

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
