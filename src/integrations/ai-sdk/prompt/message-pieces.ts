import type { LanguageModelV4Message } from '@ai-sdk/provider'
import { kindOf } from '../../../prompt/bodies-in.ts'
import { toFilePart } from '../../../prompt/file-part.ts'
import { embeddedMedia, mediaOf } from '../../../prompt/named-media.ts'
import type { ShownResult } from '../../../prompt/result-item.ts'
import { type ResultCapabilities, resultMessages } from '../../../prompt/result-message.ts'
import type {
  MediaPart,
  ResolvedItem,
  TextPart,
  TranscriptItem,
} from '../../../prompt/transcript-item.ts'
import { marker } from '../../../prompt/user-parts.ts'
import { urlOf } from '../output-value.ts'

type ToolMessage = Extract<LanguageModelV4Message, { role: 'tool' }>
type UserMessage = Extract<LanguageModelV4Message, { role: 'user' }>

/** A message that is shown otherwise: what of it is to be resolved, and what it becomes. */
export interface MessagePiece {
  items: readonly TranscriptItem[]
  make(resolved: readonly ResolvedItem[], how: ResultCapabilities): LanguageModelV4Message[]
}

/** Results as they are shown, bodies that the model takes in no result behind them, and what is to be said. */
export function toolPiece(
  message: ToolMessage,
  shown: readonly ShownResult[],
  words: readonly TextPart[],
): MessagePiece {
  return {
    items: [{ type: 'results', results: shown.map(({ item }) => item) }],
    make(resolved, how) {
      const results = resolved.flatMap((item) => (item.type === 'results' ? item.results : []))
      const [made, ...outside] = resultMessages(results, how)
      const parts = made?.role === 'tool' ? made.content : []
      const outputs = new Map(
        parts.flatMap((part) =>
          part.type === 'tool-result' ? [[part.toolCallId, part.output] as const] : [],
        ),
      )
      const content = message.content.map((part) => {
        const output = part.type === 'tool-result' ? outputs.get(part.toolCallId) : undefined
        return part.type === 'tool-result' && output ? { ...part, output } : part
      })
      const said = words.length > 0 ? [{ role: 'user' as const, content: [...words] }] : []
      return [{ ...message, content }, ...outside, ...said]
    },
  }
}

/**
 * A user's message with the bodies that it refers to, each behind its marker; null where it refers to none.
 *
 * @param shows Whether the body behind a reference may be sent.
 */
export function userPiece(
  message: UserMessage,
  shows: (ref: string) => boolean = () => true,
): MessagePiece | null {
  const media = message.content.map((part): MediaPart[] => {
    if (part.type === 'text')
      return part.text.includes('<|') ? embedded(part.text).filter(({ ref }) => shows(ref)) : []
    const ref = urlOf(part.data)
    if (!ref?.startsWith('asset:') || !shows(ref)) return []
    const fileName = part.filename === undefined ? {} : { fileName: part.filename }
    const { mediaType: mimeType } = part
    const about = { kind: kindOf(mimeType), mimeType, otherwise: 'note' as const, ...fileName }
    return [{ ...mediaOf(ref, undefined), ...about }]
  })
  const found = media.flat()
  if (found.length === 0) return null
  return {
    items: found.map((part) => ({ type: 'user', parts: [part] })),
    make(resolved, how) {
      let next = 0
      const content = message.content.flatMap((part, i) => {
        const own = media[i] ?? []
        const made = own.flatMap((one) => {
          const words = { type: 'text' as const, text: marker(one) }
          const shown = contentOf(resolved[next++] as ResolvedItem, how)
          return one.otherwise === 'note' ? [words, ...shown] : shown
        })
        return part.type === 'file' && own.length > 0 ? made : [part, ...made]
      })
      return [{ ...message, content }]
    },
  }
}

function embedded(text: string): MediaPart[] {
  return embeddedMedia(text, { get: () => undefined }, new Set())
}

/** A resolved item as the content of a user's message. */
export function contentOf(item: ResolvedItem, how: ResultCapabilities): UserMessage['content'] {
  const parts = item.type === 'user' ? item.parts : []
  return parts.map((part) => (part.type === 'file' ? toFilePart(part, how) : part))
}
