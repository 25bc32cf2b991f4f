import { escapeBlocks } from '../../content/escape-blocks.ts'
import type { FilePart, MediaPart, TextPart } from '../transcript-item.ts'
import type { MediaFacts } from './media-facts.ts'
import type { MediaSource } from './media-source.ts'
import type { ReadBody } from './read-body.ts'
import type { Standing, Standings } from './standings.ts'

/**
 * Makes the parts of one call, in its order: a body that was sent before is named, not sent again.
 *
 * @param left Keys of bodies that are too many for the call.
 */
export function createPartMaker(
  standings: Standings,
  left: ReadonlySet<string>,
  { media = 'all', onMissing }: Pick<MediaSource, 'media' | 'onMissing'>,
): (part: MediaPart) => (TextPart | FilePart)[] {
  const sent = new Set<string>()

  function shown(
    part: MediaPart,
    standing: Extract<Standing, { type: 'read' }>,
  ): (TextPart | FilePart)[] {
    const { facts, body, key } = standing
    if (body.type === 'value') return [named(part.ref, body.text)]
    if (body.type === 'failed') return [noteOf(part, facts, body.why)]
    if (left.has(key))
      return [noteOf(part, facts, 'it is more than one call may carry; newer ones go first')]
    const kind = facts?.kind ?? part.kind
    if (sent.has(key)) return [sameAsAbove(kind, part.ref)]
    sent.add(key)
    if (body.type === 'text') return [wordsOf(part.ref, body.text, body.rest)]
    const file = filePart(part, body, part.fileName ?? facts?.name)
    return part.otherwise === 'short' ? [named(part.ref), file] : [file]
  }

  return (part) => {
    if (media === 'none') return instead(part, null, 'bodies are read by reference')
    const standing = standings.find(part)
    if (standing?.type === 'read') return shown(part, standing)
    if (standing?.type !== 'note') {
      onMissing?.(part.ref, standing?.error)
      return [unresolved(part)]
    }
    return instead(part, standing.facts, standing.why)
  }
}

/** What stands for a body that is not sent. */
function instead(part: MediaPart, facts: MediaFacts | null, why: string): TextPart[] {
  if (part.otherwise === 'short') return []
  return [part.otherwise === 'type' ? typeOf(part, facts) : noteOf(part, facts, why)]
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

/** `[image not shown: asset://…, image/tiff, 12 bytes, "scan.tif": why]` */
function noteOf(part: MediaPart, facts: MediaFacts | null, why: string): TextPart {
  const size = facts?.size ?? part.size
  const name = part.fileName ?? facts?.name
  const told = [
    part.ref,
    facts?.mime ?? part.mimeType,
    ...(size === undefined ? [] : [`${size} bytes`]),
    ...(name ? [JSON.stringify(name)] : []),
  ]
  const text = `[${facts?.kind ?? part.kind} not shown: ${told.join(', ')}: ${why}]`
  // Type and URL may be anybody's words.
  return { type: 'text', text: escapeBlocks(text) }
}

/** `[not shown: image/tiff]` */
function typeOf(part: MediaPart, facts: MediaFacts | null): TextPart {
  return { type: 'text', text: `[not shown: ${facts?.mime ?? part.mimeType}]` }
}

/** `[unresolved image: asset://…]` (binary-assets.md, "Resolution Behavior"). */
function unresolved({ kind, ref }: MediaPart): TextPart {
  return { type: 'text', text: `[unresolved ${kind}: ${ref}]` }
}

/** What stands where an equal body stands further up. */
function sameAsAbove(kind: MediaPart['kind'], ref: string): TextPart {
  return { type: 'text', text: `[same ${kind} as above: ${ref}]` }
}

/** The words of a body, and how to read on where they are not all. */
function wordsOf(ref: string, text: string, rest: string | null): TextPart {
  const end = rest === null ? `[End of ${ref}]` : `[Cut: ${rest}. All of it is ${ref}]`
  return { type: 'text', text: `[Text of ${ref}]\n${escapeBlocks(text)}\n${end}` }
}

/** A reference between marks, and what is to be said of it. */
function named(ref: string, said?: string): TextPart {
  return {
    type: 'text',
    text: said === undefined ? `<|${ref}|>:` : `<|${ref}|>: ${escapeBlocks(said)}`,
  }
}
