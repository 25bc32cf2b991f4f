import type { JsonValue } from '../core/json/json.ts'
import type { ToolCall } from '../core/messages/message.ts'
import { estimateTokens } from '../core/messages/metas-block.ts'

/** Text for the model. Headings that imitate byref's own are already escaped. */
export interface TextPart {
  type: 'text'
  text: string
}

/** A file in the transcript: an `asset://` reference, or an `https:` URL from a message. */
export interface MediaPart {
  type: 'media'
  kind: 'image' | 'audio' | 'video' | 'file'
  ref: string
  /** The MIME type, as far as it is known: `image/png`, `image/*`, `application/octet-stream`. */
  mimeType: string
  fileName?: string
  /** The size in bytes, if it is known. */
  size?: number
  /** For images: the level of detail, `low`, `high` or `auto`. */
  detail?: string
  /** For audio: the provider's name of the format, `mp3` or `wav`. */
  format?: string
  /**
   * What replaces the file if the model does not accept it. `note`: a text with name, type, size and reference, or
   * the text in the file. `type`: only its type, because the text beside it names the file. `short`: the embedded
   * reference with the text or data in it if they are short, else with its metadata.
   */
  otherwise: 'note' | 'type' | 'short'
}

/** Reasoning of the model, in the form that its provider expects. */
export interface ReasoningPart {
  type: 'reasoning'
  text: string
  /** The provider's metadata, which is sent back unchanged: signatures, item ids. */
  provider_metadata?: Record<string, unknown>
}

/** The result of one call. */
export interface ResultItem {
  toolCallId: string
  toolName: string
  isError: boolean
  /** Text, or JSON if the value is not a text. */
  output: { type: 'text'; value: string } | { type: 'json'; value: JsonValue }
  /** The files that the result names, in order. */
  media: readonly MediaPart[]
}

/**
 * One part of the transcript, independent of the model's capabilities. The results of an answer's calls are one
 * item, which follows the answer.
 */
export type TranscriptItem =
  /** A system message in the middle of a conversation. */
  | { type: 'system'; text: string }
  | { type: 'user'; parts: readonly (TextPart | MediaPart)[] }
  | {
      type: 'assistant'
      parts: readonly (TextPart | ReasoningPart)[]
      calls: readonly (ToolCall & { provider_metadata?: Record<string, unknown> })[]
    }
  | { type: 'results'; results: readonly ResultItem[] }

/** Returns the files that an item names, in order. */
export function mediaOfItem(item: TranscriptItem): MediaPart[] {
  if (item.type === 'results') return item.results.flatMap(({ media }) => media)
  if (item.type !== 'user') return []
  return item.parts.flatMap((part) => (part.type === 'media' ? part : []))
}

/** Maximum size of an image that was scaled down for a model, in bytes. */
const PICTURE_BYTES = 1_500_000

/** Estimates how many bytes of a body are sent, before it is read. */
export function bytesSent({ kind, size = 0 }: MediaPart): number {
  return kind === 'image' ? Math.min(size, PICTURE_BYTES) : size
}

/** A prepared body: base64 or bytes (`data`), or an address from which the provider fetches it (`url`). */
export interface FilePart {
  type: 'file'
  /** The reference that it comes from. */
  ref: string
  mediaType: string
  fileName?: string
  detail?: string
  data: { type: 'data'; data: string | Uint8Array } | { type: 'url'; url: URL }
}

/** A {@link TranscriptItem} in which every file is a part that the model accepts, or text. */
export type ResolvedItem =
  | { type: 'system'; text: string }
  | { type: 'user'; parts: readonly (TextPart | FilePart)[] }
  | Extract<TranscriptItem, { type: 'assistant' }>
  | { type: 'results'; results: readonly ResolvedResult[] }

/** A {@link ResultItem} with resolved files. */
export interface ResolvedResult extends Omit<ResultItem, 'media'> {
  media: readonly (TextPart | FilePart)[]
}

/** Estimated tokens of a file. Providers count images by their size, which is unknown before the call. */
export const MEDIA_TOKENS: Readonly<Record<MediaPart['kind'], number>> = {
  image: 1500,
  audio: 2000,
  video: 5000,
  file: 3000,
}

/** Estimates the number of tokens of an item. */
export function itemTokens(item: TranscriptItem): number {
  switch (item.type) {
    case 'system':
      return estimateTokens(item.text)
    case 'user':
      return item.parts.reduce((sum, part) => sum + partTokens(part), 0)
    case 'assistant': {
      const tokens = item.parts.reduce((sum, { text }) => sum + estimateTokens(text), 0)
      const called = item.calls.map(({ name, arguments: args }) => ({ name, args }))
      return tokens + (called.length > 0 ? jsonTokens(called) : 0)
    }
    case 'results':
      return item.results.reduce((sum, { output, media }) => {
        const { value } = output
        const tokens = typeof value === 'string' ? estimateTokens(value) : jsonTokens(value)
        return sum + tokens + media.reduce((all, part) => all + partTokens(part), 0)
      }, 0)
  }
}

function partTokens(part: TextPart | MediaPart): number {
  return part.type === 'text' ? estimateTokens(part.text) : MEDIA_TOKENS[part.kind]
}

/** Estimates the number of tokens of a value as JSON, from its length. */
export function jsonTokens(value: unknown): number {
  return (JSON.stringify(value)?.length ?? 0) / 4
}
