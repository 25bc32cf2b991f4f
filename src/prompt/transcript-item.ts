import { isTextType } from '../assets/bodies/mime-type.ts'
import type { JsonValue } from '../core/json/json.ts'
import type { KeptReasoning, Message } from '../core/messages/message.ts'
import { readParts } from '../core/messages/message-parts.ts'
import { escapeBlocks, estimateTokens } from '../core/messages/metas-block.ts'
import {
  type AnnouncedCall,
  type AnswerPart,
  type ProviderCallPart,
  readMetadata,
} from '../core/messages/read-metadata.ts'

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
  /** The MIME type, as precise as it is known: `image/png`, `image/*` or `application/octet-stream`. */
  mimeType: string
  fileName?: string
  /** The size in bytes, if it is known. */
  size?: number
  /** For images: the level of detail, `low`, `high` or `auto`. */
  detail?: string
  /**
   * What replaces the file if the model does not accept it. `note`: a text with name, type, size and reference, or the
   * text in the file. `type`: only its type, because the text next to it names the file. `value`: the embedded
   * reference, with the file's text or data if they are short, or else with its metadata.
   */
  fallback: 'note' | 'type' | 'value'
}

/** Reasoning of the model. The provider's metadata, such as signatures and item ids, is sent back unchanged. */
export interface ReasoningPart extends KeptReasoning {
  type: 'reasoning'
}

/** A text of the model. The provider's metadata is sent back unchanged. */
export interface AnswerText extends TextPart {
  provider_metadata?: Record<string, unknown>
}

/** A part of an answer before the calls of byref's tools. */
export type AnswerContent = AnswerText | ReasoningPart | ProviderCallPart

/** A call of the model, and the reasoning directly before it. */
export interface AnswerCall extends AnnouncedCall {
  thoughts?: readonly ReasoningPart[]
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
      parts: readonly AnswerContent[]
      calls: readonly AnswerCall[]
    }
  | { type: 'results'; results: readonly ResultItem[] }

/** An answer of the model. */
export type AssistantItem = Extract<TranscriptItem, { type: 'assistant' }>

/** Returns the files that an item names, in order. */
export function mediaOfItem(item: TranscriptItem): MediaPart[] {
  if (item.type === 'results') return item.results.flatMap(({ media }) => media)
  if (item.type !== 'user') return []
  return item.parts.flatMap((part) => (part.type === 'media' ? part : []))
}

/** Whether a file counts as one that a call carries. Text is cut, and needs no other limit. An SVG is sent as a picture. */
export function isBody({ kind, mimeType }: Pick<MediaPart, 'kind' | 'mimeType'>): boolean {
  return kind !== 'file' || !isTextType(mimeType)
}

/** Estimated maximum size of an image that was scaled down for a model, in bytes. */
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
  | AssistantItem
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
      const texts = [...item.parts, ...item.calls.flatMap(({ thoughts = [] }) => thoughts)]
      const tokens = texts.reduce(
        (sum, part) => sum + ('text' in part ? estimateTokens(part.text) : jsonTokens(part)),
        0,
      )
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

/** Estimates the number of tokens of a value as JSON. */
export function jsonTokens(value: unknown): number {
  return estimateTokens(JSON.stringify(value) ?? '')
}

/**
 * Converts an answer of the model: its reasoning, texts and calls, in the order in which the model wrote them.
 *
 * @param hasFiles Whether it also has files, which are shown after it. Without a text, it then says so.
 */
export function assistantItem(message: Message, hasFiles: boolean): AssistantItem {
  const { reasoning, calls: called } = readMetadata(message)
  const content = contentOf(message)
  const parts: AnswerContent[] = []
  const calls: AnswerCall[] = []
  let thoughts: ReasoningPart[] = []
  let [at, thought] = [0, 0]
  for (const part of orderOf(message)) {
    if (part.type === 'reasoning') {
      const { text = '', ...kept } = reasoning[thought++] ?? {}
      thoughts.push({ type: 'reasoning', text, ...kept })
      continue
    }
    if (part.type === 'text') {
      const { length, ...kept } = part
      parts.push(...thoughts, { ...kept, text: escapeBlocks(content.slice(at, at + length)) })
      at += length
    } else if (part.type !== 'call') {
      parts.push(...thoughts, part)
    } else {
      const call = called[calls.length] as AnswerCall
      // All texts come before the calls, so only reasoning before a later call must stay with that call.
      const isLater = calls.length > 0 && thoughts.length > 0
      calls.push(isLater ? { ...call, thoughts } : call)
      if (!isLater) parts.push(...thoughts)
    }
    thoughts = []
  }
  parts.push(...thoughts)
  if (hasFiles && content.trim() === '' && calls.length === 0) {
    parts.push({ type: 'text', text: '(files only)' })
  }
  return { type: 'assistant', parts, calls }
}

/**
 * Returns the order of an answer's parts: the order in its message, or else reasoning, text, calls. If the order in the
 * message does not fit, the message was changed. Then the reasoning is left out, because providers reject reasoning
 * that is not followed by its own part.
 */
function orderOf(message: Message): readonly AnswerPart[] {
  const { reasoning, calls, answerParts } = readMetadata(message)
  const { length } = contentOf(message)
  const isKnown = answerParts.length > 0
  const has = { reasoning: 0, call: 0, text: 0, provider_call: 0, provider_result: 0 }
  for (const part of answerParts) has[part.type] += part.type === 'text' ? part.length : 1
  const fits =
    has.reasoning === reasoning.length && has.call === calls.length && has.text === length
  if (isKnown && fits) return answerParts
  return [
    ...Array<AnswerPart>(isKnown ? 0 : reasoning.length).fill({ type: 'reasoning' }),
    ...(length > 0 ? [{ type: 'text' as const, length }] : []),
    ...Array<AnswerPart>(calls.length).fill({ type: 'call' }),
  ]
}

/** Returns the text of an answer: that of its parts, or its content as JSON if it is something else. */
export function contentOf({ content, content_type }: Message): string {
  if (typeof content === 'string') return content
  if (content_type === 'multipart/mixed') {
    return readParts(content)
      .flatMap((part) => (part.type === 'text' ? part.text : []))
      .join('\n')
  }
  return content === null || content === undefined ? '' : JSON.stringify(content)
}
