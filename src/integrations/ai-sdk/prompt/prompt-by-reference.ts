import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { referenceGuide } from '../../../core/messages/reference-guide.ts'
import type { MediaSource } from '../../../prompt/media/media-source.ts'
import { resolveMedia } from '../../../prompt/media/resolve-media.ts'
import type { ShownResult } from '../../../prompt/result-item.ts'
import type { ResultCapabilities } from '../../../prompt/result-message.ts'
import { createToldOnce, type ToldOnce } from '../../../prompt/told-once.ts'
import {
  type MediaPart,
  mediaOfItem,
  type ResolvedItem,
  type TextPart,
} from '../../../prompt/transcript-item.ts'
import { marker } from '../../../prompt/user-parts.ts'
import type { RedactedPrompt } from '../trust/redact-prompt.ts'
import { contentOf, type MessagePiece, toolPiece, userPiece } from './message-pieces.ts'
import type { ResultViews } from './result-views.ts'

/** What a prompt is made with. */
export interface PromptOptions {
  views: ResultViews
  /** What the model takes, asked for where there are bodies; `tail`: what reading tools fetched for this call. */
  source(): Promise<{ source: MediaSource; tail: MediaSource }>
  /** Whether the model has tools that read assets. */
  hasReading: boolean
  /** Of a prompt in quarantine, what of it is not to be looked at. */
  redaction?: Pick<RedactedPrompt, 'redacted' | 'shows'>
}

/** A prompt, and whether it names anything that reading tools are of use for. */
export interface MadePrompt {
  prompt: LanguageModelV4Prompt
  isReadable: boolean
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
  { views, source, hasReading, redaction }: PromptOptions,
): Promise<MadePrompt> {
  const shown = await views.in(prompt, redaction?.redacted)
  const told = createToldOnce(
    (topic) => guide(topic, hasReading),
    () => undefined,
  )
  const pieces = new Map<LanguageModelV4Message, MessagePiece>()
  let isReadable = false
  let fetched: readonly MediaPart[] = []
  for (const message of prompt) {
    if (message.role === 'assistant') fetched = []
    const user = message.role === 'user' ? userPiece(message, redaction?.shows) : null
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
  }: { pieces: ReadonlyMap<LanguageModelV4Message, MessagePiece>; fetched: readonly MediaPart[] },
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

/** What is to be said of results where it first applies. */
function wordsFor(shown: readonly ShownResult[], told: ToldOnce): TextPart[] {
  const names = new Set(shown.flatMap((one) => [...one.names]))
  const isOffloaded = shown.some(({ previewed }) => previewed.size > 0)
  return [
    ...(shown.some(({ named }) => named) ? told.topic('results') : []),
    ...told.metas(names),
    ...(isOffloaded ? told.topic('reading') : []),
  ]
}

function guide(
  topic: 'assets' | 'variables' | 'results' | 'reading',
  hasReading: boolean,
): string | null {
  if (topic === 'reading' && !hasReading) return null
  return `## References\n${referenceGuide({ [topic]: true })}`
}
