import type { JsonValue } from '../core/json/json.ts'
import type { ToolCall } from '../core/messages/message.ts'
import { estimateTokens } from '../core/messages/metas-block.ts'

/** Words, as the model is shown them: our own headings in them are already made harmless. */
export interface TextPart {
  type: 'text'
  text: string
}

/** Where a body is: an `asset://` reference, or an `https:` URL that somebody wrote. */
export interface MediaPart {
  type: 'media'
  kind: 'image' | 'audio' | 'video' | 'file'
  ref: string
  /** As far as it is known: `image/png`, `image/*`, `application/octet-stream`. */
  mimeType: string
  fileName?: string
  /** Bytes of the body, where they are known. */
  size?: number
  /** Of an image, how closely the model should look: `low`, `high`, `auto`. */
  detail?: string
  /** Of audio, what a provider calls its format: `mp3`, `wav`. */
  format?: string
  /**
   * What stands for it where the model cannot take it. `note`: a text of name, type, size and reference, or the text that
   * the body holds. `type`: its type alone, since the words beside it name it. `short`: named between `<|` and `|>`; text and
   * data are shown if they are short, else their meta.
   */
  otherwise: 'note' | 'type' | 'short'
}

/** What a model thought, as its provider wants it back. */
export interface ReasoningPart {
  type: 'reasoning'
  text: string
  /** The provider's own, to be sent back to it unchanged: signatures, item ids. */
  provider_metadata?: Record<string, unknown>
}

/** The result of one call. */
export interface ResultItem {
  toolCallId: string
  toolName: string
  isError: boolean
  /** Text, or JSON where the value is no text. */
  output: { type: 'text'; value: string } | { type: 'json'; value: JsonValue }
  /** Bodies that the result names, in their order. */
  media: readonly MediaPart[]
}

/**
 * One piece of what a model is shown, before it is known what the model can take. A call's results follow the answer that
 * made it, all in one item.
 */
export type TranscriptItem =
  /** Words of the system in the middle of a conversation. */
  | { type: 'system'; text: string }
  | { type: 'user'; parts: readonly (TextPart | MediaPart)[] }
  | {
      type: 'assistant'
      parts: readonly (TextPart | ReasoningPart)[]
      calls: readonly (ToolCall & { provider_metadata?: Record<string, unknown> })[]
    }
  | { type: 'results'; results: readonly ResultItem[] }

/** The bodies that an item names, in their order. */
export function mediaOfItem(item: TranscriptItem): MediaPart[] {
  if (item.type === 'results') return item.results.flatMap(({ media }) => media)
  if (item.type !== 'user') return []
  return item.parts.flatMap((part) => (part.type === 'media' ? part : []))
}

/** As much as a picture has at most when it was made smaller for a model, in bytes. */
const PICTURE_BYTES = 1_500_000

/** About how many bytes of a body are sent, as far as that is known before it is read. */
export function bytesSent({ kind, size = 0 }: MediaPart): number {
  return kind === 'image' ? Math.min(size, PICTURE_BYTES) : size
}

/** A body as a model takes it: base64 or bytes (`data`), or where its provider fetches it (`url`). */
export interface FilePart {
  type: 'file'
  /** Where it comes from. */
  ref: string
  mediaType: string
  fileName?: string
  detail?: string
  data: { type: 'data'; data: string | Uint8Array } | { type: 'url'; url: URL }
}

/** A {@link TranscriptItem} in which every body is a part that the model takes, or words. */
export type ResolvedItem =
  | { type: 'system'; text: string }
  | { type: 'user'; parts: readonly (TextPart | FilePart)[] }
  | Extract<TranscriptItem, { type: 'assistant' }>
  | { type: 'results'; results: readonly ResolvedResult[] }

/** A {@link ResultItem} whose bodies are resolved. */
export interface ResolvedResult extends Omit<ResultItem, 'media'> {
  media: readonly (TextPart | FilePart)[]
}

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
