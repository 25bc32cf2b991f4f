import { inParallel } from '../../assets/in-parallel.ts'
import { escapeBlocks } from '../../core/messages/metas-block.ts'
import {
  type FilePart,
  type MediaPart,
  mediaOfItem,
  type ResolvedItem,
  type TextPart,
  type TranscriptItem,
} from '../transcript-item.ts'
import type { MediaFacts } from './media-plan.ts'
import type { MediaSource } from './media-source.ts'
import { type MediaState, MediaStates } from './media-states.ts'
import type { ReadBody, RestOfText } from './read-body.ts'

/** Maximum number of bodies that are read in parallel. */
const AT_ONCE = 6

/**
 * Converts every file in the items to a part that the model accepts, or to text. Files are read in parallel, each once,
 * and cached files need no I/O. Equal files are sent once. If there are more files than one call can carry, the oldest
 * ones are left out. Items without files are returned unchanged.
 */
export async function resolveMedia(
  items: readonly TranscriptItem[],
  source: MediaSource,
): Promise<ResolvedItem[]> {
  const parts = items.flatMap(mediaOfItem)
  const states = new MediaStates(source)
  const missing = source.media === 'none' ? [] : parts.filter((part) => !states.find(part))
  if (missing.length > 0) {
    await inParallel(missing, { limit: AT_ONCE }, (part) => states.load(part))
  }
  const omitted = fitIntoCall(parts, states, source)
  const make = createPartMaker(states, omitted, source)
  return items.map((item): ResolvedItem => {
    if (item.type === 'user' && item.parts.some(isMedia)) {
      return {
        type: 'user',
        parts: item.parts.flatMap((part) => (isMedia(part) ? make(part) : part)),
      }
    }
    if (item.type !== 'results' || mediaOfItem(item).length === 0) return item as ResolvedItem
    return {
      type: 'results',
      results: item.results.map((result) => ({ ...result, media: result.media.flatMap(make) })),
    }
  })
}

function isMedia(part: { type: string }): part is MediaPart {
  return part.type === 'media'
}

/**
 * Returns the keys of the files that exceed the provider's limits for one call. The newest files are kept, and
 * equal ones count once. The app's own budget is enforced by compactions instead, because they keep the beginning
 * of the prompt stable.
 */
function fitIntoCall(
  parts: readonly MediaPart[],
  states: MediaStates,
  { capabilities: { perCall }, last = [] }: MediaSource,
): ReadonlySet<string> {
  const room = { ...perCall }
  const take = (mime: string, bytes: number): boolean => {
    const kind = mime.startsWith('image/') ? 'images' : 'files'
    if (room.bytes < bytes || room[kind] < 1) return false
    room.bytes -= bytes
    room[kind]--
    return true
  }
  for (const item of last) {
    for (const part of item.type === 'user' ? item.parts : []) {
      if (part.type === 'file') take(part.mediaType, bytesOf(part.data))
    }
  }
  const seen = new Set<string>()
  const omitted = new Set<string>()
  for (const part of parts.toReversed()) {
    const state = states.find(part)
    if (state?.type !== 'read' || seen.has(state.key)) continue
    const { body, key } = state
    if (body.type !== 'data' && body.type !== 'url') continue
    seen.add(key)
    const bytes = body.type === 'data' ? sizeOf(body.base64) : 0
    if (!take(body.mime, bytes)) omitted.add(key)
  }
  return omitted
}

/** Returns the number of bytes that base64 encodes. */
function sizeOf(base64: string): number {
  return Math.ceil(base64.length * 0.75)
}

function bytesOf(data: FilePart['data']): number {
  if (data.type === 'url') return 0
  return typeof data.data === 'string' ? sizeOf(data.data) : data.data.byteLength
}

/**
 * Returns a function that converts the files of one call, in order. A file that was sent before is only named.
 *
 * @param omitted Keys of bodies that the call has no room for.
 */
function createPartMaker(
  states: MediaStates,
  omitted: ReadonlySet<string>,
  {
    media = 'all',
    reading = false,
    onMissing,
  }: Pick<MediaSource, 'media' | 'reading' | 'onMissing'>,
): (part: MediaPart) => (TextPart | FilePart)[] {
  const sent = new Map<string, string>()

  function shown(
    part: MediaPart,
    state: Extract<MediaState, { type: 'read' }>,
  ): (TextPart | FilePart)[] {
    const { facts, body, key } = state
    if (body.type === 'value') return [named(part.ref, body.text)]
    if (body.type === 'failed') return [noteOf(part, facts, body.why)]
    if (omitted.has(key))
      return [noteOf(part, facts, 'one call cannot carry more files, and newer files come first')]
    const kind = facts?.kind ?? part.kind
    const first = sent.get(key)
    if (first !== undefined) return [sameAs(first, kind, part.ref)]
    sent.set(key, part.ref)
    if (body.type === 'text') return [textPart(part.ref, body, reading)]
    const file = filePart(part, body, part.fileName ?? facts?.name)
    return part.fallback === 'value' ? [named(part.ref), file] : [file]
  }

  return (part) => {
    if (media === 'none') return replacement(part, null, 'bodies are read by reference')
    const state = states.find(part)
    if (state?.type === 'read') return shown(part, state)
    if (state?.type !== 'note') {
      onMissing?.(part.ref, state?.error)
      return [unresolved(part)]
    }
    return replacement(part, state.facts, state.why)
  }
}

/** Returns the text that replaces a body which is not sent. */
function replacement(part: MediaPart, facts: MediaFacts | null, why: string): TextPart[] {
  if (part.fallback === 'value') return []
  return [part.fallback === 'type' ? typeOf(part, facts) : noteOf(part, facts, why)]
}

function filePart(
  { ref, detail }: MediaPart,
  body: Extract<ReadBody, { type: 'data' | 'url' }>,
  fileName: string | null | undefined,
): FilePart {
  return {
    type: 'file',
    ref,
    mediaType: body.mime,
    ...(fileName ? { fileName } : {}),
    ...(detail ? { detail } : {}),
    data:
      body.type === 'url' ? { type: 'url', url: body.url } : { type: 'data', data: body.base64 },
  }
}

/** Returns `[image not shown: asset://…, image/tiff, 12 bytes, "scan.tif": why]`. */
function noteOf(part: MediaPart, facts: MediaFacts | null, why: string): TextPart {
  const size = facts?.size ?? part.size
  const name = part.fileName ?? facts?.name
  const words = [
    part.ref,
    facts?.mime ?? part.mimeType,
    ...(size === undefined ? [] : [`${size} bytes`]),
    ...(name ? [JSON.stringify(name)] : []),
  ]
  // The type and the URL may come from outside.
  const named = escapeBlocks(words.join(', '))
  return { type: 'text', text: `[${facts?.kind ?? part.kind} not shown: ${named}: ${why}]` }
}

/** Returns `[not shown: image/tiff]`. */
function typeOf(part: MediaPart, facts: MediaFacts | null): TextPart {
  return { type: 'text', text: `[not shown: ${facts?.mime ?? part.mimeType}]` }
}

/** Returns the text for a body that cannot be read: `[unresolved image: asset://…]`. */
function unresolved({ kind, ref }: MediaPart): TextPart {
  return { type: 'text', text: `[unresolved ${kind}: ${ref}]` }
}

/** Returns the text for a body that was already sent, with the reference `first`. */
function sameAs(first: string, kind: MediaPart['kind'], ref: string): TextPart {
  return { type: 'text', text: `[same ${kind} as ${first === ref ? 'above' : first}: ${ref}]` }
}

/** Returns the text of a body. If it is cut, the last line says how to read the rest. */
function textPart(
  ref: string,
  { text, rest }: { text: string; rest: RestOfText | null },
  reading: boolean,
): TextPart {
  const how = reading
    ? `Read on with fetch_asset (ref: ${ref}, ${rest?.next}), or search it with search_asset`
    : `The whole text is ${ref}`
  const end = rest === null ? `[End of ${ref}]` : `[Cut: ${rest.shown}. ${how}]`
  return { type: 'text', text: `[Text of ${ref}]\n${escapeBlocks(text)}\n${end}` }
}

/** Returns an embedded reference with a text about it. */
function named(ref: string, text?: string): TextPart {
  return {
    type: 'text',
    text: text === undefined ? `<|${ref}|>:` : `<|${ref}|>: ${escapeBlocks(text)}`,
  }
}
