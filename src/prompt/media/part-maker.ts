import type { FilePart, MediaPart, TextPart } from '../transcript-item.ts'
import type { MediaFacts } from './media-facts.ts'
import { named, noteOf, sameAsAbove, typeOf, unresolved, wordsOf } from './media-note.ts'
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
