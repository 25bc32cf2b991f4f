import { estimateTokens } from '../core/messages/metas-block.ts'
import type { MediaPart, TextPart, TranscriptItem } from './transcript-item.ts'

/** About what a body costs, in tokens: providers count pictures by their size, and none gives it before. */
export const MEDIA_TOKENS: Readonly<Record<MediaPart['kind'], number>> = {
  image: 1500,
  audio: 2000,
  video: 5000,
  file: 3000,
}

/** About how many tokens an item has. */
export function itemTokens(item: TranscriptItem): number {
  switch (item.type) {
    case 'system':
      return estimateTokens(item.text)
    case 'user':
      return item.parts.reduce((sum, part) => sum + partTokens(part), 0)
    case 'assistant': {
      const said = item.parts.reduce((sum, { text }) => sum + estimateTokens(text), 0)
      const called = item.calls.map(({ name, arguments: args }) => ({ name, args }))
      return said + (called.length > 0 ? jsonTokens(called) : 0)
    }
    case 'results':
      return item.results.reduce((sum, { output, media }) => {
        const { value } = output
        const said = typeof value === 'string' ? estimateTokens(value) : jsonTokens(value)
        return sum + said + media.reduce((all, part) => all + partTokens(part), 0)
      }, 0)
  }
}

function partTokens(part: TextPart | MediaPart): number {
  return part.type === 'text' ? estimateTokens(part.text) : MEDIA_TOKENS[part.kind]
}

/** About how many tokens a value has as JSON; quicker than counting its letters. */
export function jsonTokens(value: unknown): number {
  return (JSON.stringify(value)?.length ?? 0) / 4
}
