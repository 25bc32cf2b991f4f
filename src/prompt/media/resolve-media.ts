import { inParallel } from '../../assets/in-parallel.ts'
import type { ModelCapabilities } from '../../model/model-capabilities.ts'
import type { MediaPart, ResolvedItem, TranscriptItem } from '../transcript-item.ts'
import type { MediaSource } from './media-source.ts'
import { createPartMaker } from './part-maker.ts'
import { createStandings, type Standings } from './standings.ts'

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

/**
 * The bodies that are too many for one call, by their keys: the newest go first, and equal ones count once. This is what
 * a provider would refuse; a budget of one's own is kept by compactions, which leave the prompt's beginning as it is.
 */
function fitIntoCall(
  parts: readonly MediaPart[],
  standings: Standings,
  { perCall }: Pick<ModelCapabilities, 'perCall'>,
): ReadonlySet<string> {
  const room = { ...perCall }
  const seen = new Set<string>()
  const left = new Set<string>()
  for (const part of parts.toReversed()) {
    const standing = standings.find(part)
    if (standing?.type !== 'read' || seen.has(standing.key)) continue
    const { body, key } = standing
    if (body.type !== 'data' && body.type !== 'url') continue
    seen.add(key)
    const bytes = body.type === 'data' ? Math.ceil(body.base64.length * 0.75) : 0
    const kind = body.mime.startsWith('image/') ? 'images' : 'files'
    if (room.bytes < bytes || room[kind] < 1) {
      left.add(key)
      continue
    }
    room.bytes -= bytes
    room[kind]--
  }
  return left
}
