import { escapeBlocks } from '../../content/escape-blocks.ts'
import type { MediaPart, TextPart } from '../transcript-item.ts'
import type { MediaFacts } from './media-facts.ts'

/** `[image not shown: asset://…, image/tiff, 12 bytes, "scan.tif": why]` */
export function noteOf(part: MediaPart, facts: MediaFacts | null, why: string): TextPart {
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
export function typeOf(part: MediaPart, facts: MediaFacts | null): TextPart {
  return { type: 'text', text: `[not shown: ${facts?.mime ?? part.mimeType}]` }
}

/** `[unresolved image: asset://…]` (binary-assets.md, "Resolution Behavior"). */
export function unresolved({ kind, ref }: MediaPart): TextPart {
  return { type: 'text', text: `[unresolved ${kind}: ${ref}]` }
}

/** What stands where an equal body stands further up. */
export function sameAsAbove(kind: MediaPart['kind'], ref: string): TextPart {
  return { type: 'text', text: `[same ${kind} as above: ${ref}]` }
}

/** The words of a body, and how to read on where they are not all. */
export function wordsOf(ref: string, text: string, rest: string | null): TextPart {
  const end = rest === null ? `[End of ${ref}]` : `[Cut: ${rest}. All of it is ${ref}]`
  return { type: 'text', text: `[Text of ${ref}]\n${escapeBlocks(text)}\n${end}` }
}

/** A reference between marks, and what is to be said of it. */
export function named(ref: string, said?: string): TextPart {
  return {
    type: 'text',
    text: said === undefined ? `<|${ref}|>:` : `<|${ref}|>: ${escapeBlocks(said)}`,
  }
}
