import type { Message } from 'byref/client'
import { parseAssetRef, readMetadata } from 'byref/client'
import { findEmbedded } from '../references/kinds.ts'
import { findMedia, type Media } from './find-media.ts'
import { readContent } from './read-content.ts'
import type { TimelineItem } from './timeline-item.ts'

/**
 * Gives each step the images and files of its results that no message of the same turn shows. Everything is shown once:
 * where the answer puts it, or else below the step that made it.
 */
export function placeMedia(items: readonly TimelineItem[]): void {
  let start = 0
  for (let end = 1; end <= items.length; end++) {
    if (end < items.length && !isTurn(items[end])) continue
    placeTurn(items.slice(start, end))
    start = end
  }
}

function placeTurn(turn: readonly TimelineItem[]): void {
  const made = turn.map((item) => (item.type === 'step' ? mediaOf(item.asides) : []))
  if (made.every(({ length }) => length === 0)) return
  // Text in a step is folded away, so it does not count as shown.
  const shown = new Set(
    turn.flatMap((item) => (item.type === 'message' ? assetsShownBy(item.message) : [])),
  )
  for (const [index, item] of turn.entries()) {
    if (item.type !== 'step') continue
    item.media = (made[index] ?? []).filter(({ ref }) => {
      const id = parseAssetRef(ref)?.id ?? ref
      const isNew = !shown.has(id)
      shown.add(id)
      return isNew
    })
  }
}

/** Returns whether a turn starts here, with a message of a person. */
function isTurn(item: TimelineItem | undefined): boolean {
  return item?.type === 'message' && item.message.sender?.participant_role === 'user'
}

/** Returns the images and files in results: in their content, and attached to them. */
export function mediaOf(results: readonly Message[]): Media[] {
  return results.flatMap((message) => {
    const known = mediaCache.get(message)
    if (known) return known
    const { result, attachments } = readMetadata(message)
    const media = result
      ? [
          ...findMedia(readContent(message)),
          ...attachments.map(({ assetRef, kind, fileName }) => ({
            ref: assetRef,
            kind,
            title: fileName,
          })),
        ]
      : []
    mediaCache.set(message, media)
    return media
  })
}

const mediaCache = new WeakMap<Message, Media[]>()
const shownCache = new WeakMap<Message, string[]>()

/** Returns the ids of the assets that a message's own text shows. */
function assetsShownBy(message: Message): string[] {
  const known = shownCache.get(message)
  if (known) return known
  const { content } = message
  const ids = Array.isArray(content) ? content.flatMap(assetsIn) : assetsIn(content)
  shownCache.set(message, ids)
  return ids
}

function assetsIn(part: unknown): string[] {
  if (typeof part === 'string') {
    const whole = parseAssetRef(part)
    if (whole) return [whole.id]
    return findEmbedded(part).flatMap(({ url }) => parseAssetRef(url)?.id ?? [])
  }
  const { text, image_url, file } = Object(part) as Record<string, unknown>
  return [text, image_url, Object(image_url).url, file, Object(file).assetRef].flatMap((value) =>
    typeof value === 'string' ? assetsIn(value) : [],
  )
}
