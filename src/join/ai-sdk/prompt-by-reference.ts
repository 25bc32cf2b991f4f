import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { referenceGuide } from '../../content/reference-guide.ts'
import { kindOf } from '../../prompt/bodies-in.ts'
import { toFilePart } from '../../prompt/file-part.ts'
import type { MediaSource } from '../../prompt/media/media-source.ts'
import { resolveMedia } from '../../prompt/media/resolve-media.ts'
import { embeddedMedia, mediaOf } from '../../prompt/named-media.ts'
import type { ShownResult } from '../../prompt/result-item.ts'
import { type ResultCapabilities, resultMessages } from '../../prompt/result-message.ts'
import { createToldOnce, type ToldOnce } from '../../prompt/told-once.ts'
import {
  type MediaPart,
  mediaOfItem,
  type ResolvedItem,
  type TextPart,
  type TranscriptItem,
} from '../../prompt/transcript-item.ts'
import { marker } from '../../prompt/user-parts.ts'
import { urlOf } from './earlier-results.ts'
import type { ResultViews } from './result-views.ts'

type ToolMessage = Extract<LanguageModelV4Message, { role: 'tool' }>
type UserMessage = Extract<LanguageModelV4Message, { role: 'user' }>

/** What a prompt is made with. */
export interface PromptOptions {
  views: ResultViews
  /** What the model takes, asked for where there are bodies; `tail`: what reading tools fetched for this call. */
  source(): Promise<{ source: MediaSource; tail: MediaSource }>
  /** Whether the model has tools that read assets. */
  hasReading: boolean
}

/** A prompt, and whether it names anything that reading tools are of use for. */
export interface MadePrompt {
  prompt: LanguageModelV4Prompt
  isReadable: boolean
}

/** A message that is shown otherwise: what of it is to be resolved, and what it becomes. */
interface Piece {
  items: readonly TranscriptItem[]
  make(resolved: readonly ResolvedItem[], how: ResultCapabilities): LanguageModelV4Message[]
}

/** Where nothing but words is shown, nothing needs to be known of the model. */
const WORDS: ResultCapabilities = { takesInResults: {}, urlsInResults: false, detailOption: null }

/**
 * The AI SDK's prompt by reference: longer results by their names, bodies that references lead to as the model takes them,
 * and what is to be said of references where it first applies. A function of the messages alone, so that each prompt
 * begins as the one before it. The same prompt where there is nothing to refer to.
 */
export async function promptByReference(
  prompt: LanguageModelV4Prompt,
  { views, source, hasReading }: PromptOptions,
): Promise<MadePrompt> {
  const shown = await views.in(prompt)
  const told = createToldOnce(
    (topic) => guide(topic, hasReading),
    () => undefined,
  )
  const pieces = new Map<LanguageModelV4Message, Piece>()
  let isReadable = false
  let fetched: readonly MediaPart[] = []
  for (const message of prompt) {
    if (message.role === 'assistant') fetched = []
    const user = message.role === 'user' ? userPiece(message) : null
    if (user) {
      pieces.set(message, user)
      isReadable = true
    }
    if (message.role !== 'tool' || shown.size === 0) continue
    const own = message.content.flatMap((part) =>
      part.type === 'tool-result' ? (shown.get(part) ?? []) : [],
    )
    if (own.length === 0) continue
    fetched = own.flatMap((one) => one.fetched)
    isReadable ||= own.some(({ previewed }) => previewed.size > 0)
    pieces.set(message, toolPiece(message, own, wordsFor(own, told)))
  }
  if (pieces.size === 0) return { prompt, isReadable }
  return { prompt: await assemble(prompt, { pieces, fetched }, source), isReadable }
}

/** Looks bodies up for the whole prompt, since each is sent once. */
async function assemble(
  prompt: LanguageModelV4Prompt,
  {
    pieces,
    fetched,
  }: { pieces: ReadonlyMap<LanguageModelV4Message, Piece>; fetched: readonly MediaPart[] },
  find: PromptOptions['source'],
): Promise<LanguageModelV4Prompt> {
  const items = [...pieces.values()].flatMap((piece) => piece.items)
  const hasMedia = fetched.length > 0 || items.some((item) => mediaOfItem(item).length > 0)
  const media = hasMedia ? await find() : null
  const resolved = media ? await resolveMedia(items, media.source) : (items as ResolvedItem[])
  const how = media?.source.capabilities ?? WORDS
  let next = 0
  const messages = prompt.flatMap((message) => {
    const piece = pieces.get(message)
    if (!piece) return message
    const start = next
    next += piece.items.length
    return piece.make(resolved.slice(start, next), how)
  })
  if (!media || fetched.length === 0) return messages
  const parts = fetched.flatMap((part) => [{ type: 'text' as const, text: marker(part) }, part])
  const tail = await resolveMedia([{ type: 'user', parts }], media.tail)
  return [...messages, { role: 'user', content: tail.flatMap((item) => contentOf(item, how)) }]
}

/** Results as they are shown, bodies that the model takes in no result behind them, and what is to be said. */
function toolPiece(
  message: ToolMessage,
  shown: readonly ShownResult[],
  words: readonly TextPart[],
): Piece {
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

/** A user's message with the bodies that it refers to, each behind its marker; null where it refers to none. */
function userPiece(message: UserMessage): Piece | null {
  const media = message.content.map((part): MediaPart[] => {
    if (part.type === 'text') return part.text.includes('<|') ? embedded(part.text) : []
    const ref = urlOf(part.data)
    if (!ref?.startsWith('asset:')) return []
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

function contentOf(item: ResolvedItem, how: ResultCapabilities): UserMessage['content'] {
  const parts = item.type === 'user' ? item.parts : []
  return parts.map((part) => (part.type === 'file' ? toFilePart(part, how) : part))
}

/** What is to be said of results where it first applies. */
function wordsFor(shown: readonly ShownResult[], told: ToldOnce): TextPart[] {
  const names = new Set(shown.flatMap((one) => [...one.names]))
  const isSpilled = shown.some(({ previewed }) => previewed.size > 0)
  return [
    ...(shown.some(({ named }) => named) ? told.topic('results') : []),
    ...told.metas(names),
    ...(isSpilled ? told.topic('reading') : []),
  ]
}

function guide(
  topic: 'assets' | 'variables' | 'results' | 'reading',
  hasReading: boolean,
): string | null {
  if (topic === 'reading' && !hasReading) return null
  return `## References\n${referenceGuide({ [topic]: true })}`
}
