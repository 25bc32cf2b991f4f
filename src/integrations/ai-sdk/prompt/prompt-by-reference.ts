import type {
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider'
import { kindOf } from '../../../assets/bodies/mime-type.ts'
import { showValue } from '../../../boundary/boundary.ts'
import { referenceGuide } from '../../../core/messages/reference-guide.ts'
import { callError } from '../../../engine/run-errors.ts'
import type { MediaSource } from '../../../prompt/media/media-source.ts'
import { resolveMedia } from '../../../prompt/media/resolve-media.ts'
import {
  embeddedMedia,
  FirstMentions,
  mediaOf,
  type PlacedTopic,
} from '../../../prompt/mentions.ts'
import type { ShownResult } from '../../../prompt/result-item.ts'
import { type ResultCapabilities, resultMessages, toFilePart } from '../../../prompt/to-prompt.ts'
import {
  type MediaPart,
  mediaOfItem,
  type ResolvedItem,
  type TextPart,
  type TranscriptItem,
} from '../../../prompt/transcript-item.ts'
import { marker } from '../../../prompt/user-parts.ts'
import { isAssetUrl, type ModelOutput, outputValue, urlOf } from '../../model-output.ts'
import type { RedactedPrompt } from './redact-prompt.ts'

type ToolMessage = Extract<LanguageModelV4Message, { role: 'tool' }>
type UserMessage = Extract<LanguageModelV4Message, { role: 'user' }>

/** The sources of a prompt's bodies. `tail` is for bodies that `fetch_asset` read for this call. */
export interface BodySources {
  source: MediaSource
  tail: MediaSource
}

/** The sources of a prompt's results and bodies. */
interface PromptOptions {
  /** Returns how a result is shown by its number; null if it stays as it is. */
  view(part: LanguageModelV4ToolResultPart, number: number): Promise<ShownResult | null>
  /** Returns the model's capabilities. Called only for prompts with bodies. */
  source(): Promise<BodySources>
  /** Whether the model has the tools that read assets. */
  hasReading: boolean
  /** Whether `query_tables` is among them. */
  hasSql: boolean
  /** In quarantine: the results that stay redacted, and the bodies that may be sent. */
  redaction?: Pick<RedactedPrompt, 'redacted' | 'shows'>
}

/** A message that changes: the item to resolve, and the messages to make of it. */
interface Draft {
  item: TranscriptItem
  make(resolved: ResolvedItem | undefined, how: ResultCapabilities): LanguageModelV4Message[]
}

/** Capabilities for a prompt without bodies. */
const TEXT_ONLY: ResultCapabilities = {
  takesInResults: {},
  urlsInResults: false,
  detailOption: null,
  sameNames: true,
}

/**
 * Shows a prompt by reference: longer results have their names, bodies are sent as the model takes them, and the guide
 * explains references where they first appear. The result depends on the messages alone, so each prompt starts with the
 * one before it. Returns the same prompt if nothing changes.
 *
 * @returns The prompt, and whether it names an asset that `fetch_asset` and `search_asset` could read.
 */
export async function promptByReference(
  given: LanguageModelV4Prompt,
  { view, source, hasReading, hasSql, redaction }: PromptOptions,
) {
  const prompt = withShortErrors(given)
  let number = 0
  const show = (part: ToolMessage['content'][number]) => {
    if (part.type !== 'tool-result') return null
    number++
    return redaction?.redacted.has(part.output) ? null : view(part, number)
  }
  const shown = await Promise.all(
    prompt.map((one) => (one.role === 'tool' ? Promise.all(one.content.map(show)) : [])),
  )
  const guide = (topic: PlacedTopic): string | null => {
    if (topic === 'reading' && !hasReading) return null
    return `## References\n${referenceGuide({ [topic]: true, tables: topic === 'reading' && hasSql })}`
  }
  const mentions = new FirstMentions(guide, () => undefined)
  const drafts = new Map<LanguageModelV4Message, Draft>()
  let isReadable = false
  let fetched: readonly MediaPart[] = []
  for (const [i, message] of prompt.entries()) {
    if (message.role === 'assistant') fetched = []
    if (message.role === 'user') {
      const draft = userDraft(message, redaction?.shows)
      if (draft) drafts.set(message, draft)
      isReadable ||= draft !== null
    }
    if (message.role !== 'tool') continue
    const own = (shown[i] ?? []).filter((one) => one !== null)
    if (own.length === 0) continue
    fetched = own.flatMap((one) => one.fetched)
    isReadable ||= own.some(({ previewed }) => previewed.size > 0)
    const ownGuide = guideFor(own, mentions)
    drafts.set(message, {
      item: { type: 'results', results: own.map(({ item }) => item) },
      make(resolved, how) {
        const messages = resultMessages(resolved?.type === 'results' ? resolved.results : [], how)
        return [...withResults(message, shown[i] ?? [], messages), ...asMessage(ownGuide)]
      },
    })
  }
  if (drafts.size === 0) return { prompt, isReadable }
  return { prompt: await assemble(prompt, { drafts, fetched }, source), isReadable }
}

/** Shortens the errors of tools, such as a whole page of a web server, as in a prompt of byref's own agent. */
function withShortErrors(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const short = prompt.map((message) => {
    if (message.role !== 'tool') return message
    const content = message.content.map(shortError)
    return content.every((part, i) => part === message.content[i])
      ? message
      : { ...message, content }
  })
  return short.every((message, i) => message === prompt[i]) ? prompt : short
}

/** Returns a part with a short error. The same part if it has no long one. */
function shortError(part: ToolMessage['content'][number]): ToolMessage['content'][number] {
  if (part.type !== 'tool-result' || part.output.type !== 'error-text') return part
  const { message } = callError(part.output.value)
  return message === part.output.value
    ? part
    : { ...part, output: { ...part.output, value: message } }
}

/** Resolves the bodies of all drafts together, so that equal bodies are sent once. */
async function assemble(
  prompt: LanguageModelV4Prompt,
  made: { drafts: ReadonlyMap<LanguageModelV4Message, Draft>; fetched: readonly MediaPart[] },
  sourceOf: PromptOptions['source'],
): Promise<LanguageModelV4Prompt> {
  const { drafts, fetched } = made
  const items = [...drafts.values()].map(({ item }) => item)
  const hasMedia = fetched.length > 0 || items.some((item) => mediaOfItem(item).length > 0)
  const media = hasMedia ? await sourceOf() : null
  const resolved = media ? await resolveMedia(items, media.source) : (items as ResolvedItem[])
  const how = media?.source.capabilities ?? TEXT_ONLY
  const messages = prompt.flatMap((message) => {
    return drafts.get(message)?.make(resolved.shift(), how) ?? message
  })
  if (!media || fetched.length === 0) return messages
  const parts = fetched.flatMap((part) => [{ type: 'text' as const, text: marker(part) }, part])
  const tail = await resolveMedia([{ type: 'user', parts }], media.tail)
  return [...messages, ...tail.flatMap((item) => asMessage(contentOf(item, how)))]
}

/** Returns content as a message of the user. Returns an empty list if there is none. */
function asMessage(content: UserMessage['content']): UserMessage[] {
  return content.length > 0 ? [{ role: 'user', content }] : []
}

/** Puts outputs in place of the results that are shown in another way. Bodies that do not go inside results follow. */
function withResults(
  message: ToolMessage,
  shown: readonly (ShownResult | null)[],
  [made, ...outside]: LanguageModelV4Message[],
): LanguageModelV4Message[] {
  // In order, because a model may give several calls the same id.
  const parts = (made?.role === 'tool' ? made.content : []).values()
  const content = message.content.map((part, i) => {
    const own = shown[i] ? parts.next().value : undefined
    return own?.type === 'tool-result' ? { ...part, output: own.output } : part
  })
  return [{ ...message, content }, ...outside]
}

/** Returns the parts of the guide that these results need for the first time. */
function guideFor(shown: readonly ShownResult[], mentions: FirstMentions): TextPart[] {
  const names = new Set(shown.flatMap((one) => [...one.names]))
  return [
    ...(shown.some(({ named }) => named) ? mentions.topic('results') : []),
    ...mentions.metas(names),
    ...(shown.some(({ previewed }) => previewed.size > 0) ? mentions.topic('reading') : []),
  ]
}

/** Returns a user's message with the bodies that it refers to, each behind its marker. Null if it refers to none. */
function userDraft(
  message: UserMessage,
  shows: (ref: string) => boolean = () => true,
): Draft | null {
  const parts = message.content.flatMap((part): (typeof part | MediaPart)[] => {
    const media = mediaIn(part).filter(({ ref }) => shows(ref))
    if (part.type === 'text' || media.length === 0) return [part, ...media]
    return media.flatMap((one) => [{ type: 'text', text: marker(one) }, one])
  })
  if (!parts.some(({ type }) => type === 'media')) return null
  // Only media are resolved. All other parts pass through unchanged.
  const item = { type: 'user', parts } as TranscriptItem
  return { item, make: (resolved, how) => [{ ...message, content: contentOf(resolved, how) }] }
}

/** Returns the bodies that a part refers to: embedded in its text, or its file. */
function mediaIn(part: UserMessage['content'][number]): MediaPart[] {
  if (part.type === 'text') {
    return part.text.includes('<|') ? embeddedMedia(part.text, new Map(), new Set()) : []
  }
  const ref = urlOf(part.data)
  if (!ref?.startsWith('asset:')) return []
  const { mediaType: mimeType, filename: fileName } = part
  const about = { kind: kindOf(mimeType), mimeType, fallback: 'note' as const }
  return [{ ...mediaOf(ref, undefined), ...about, ...(fileName === undefined ? {} : { fileName }) }]
}

/** Returns a resolved item as content of a user's message. */
function contentOf(
  item: ResolvedItem | undefined,
  how: ResultCapabilities,
): UserMessage['content'] {
  const parts = item?.type === 'user' ? item.parts : []
  return parts.map((part) => (part.type === 'file' && 'ref' in part ? toFilePart(part, how) : part))
}

/** Results up to this length stay as they are, if they contain no reference. */
const SHORT_CHARS = 200

/** Returns how an output of a call is shown by its number; null if the result stays as it is. */
export function showOutput(
  { toolCallId, toolName }: LanguageModelV4ToolResultPart,
  output: ModelOutput,
  number: number,
): ShownResult | null {
  if (!isValue(output)) return null
  const value = outputValue(output)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (text.length <= SHORT_CHARS && !/"assetRef"|<\|/.test(text)) return null
  return showValue({ id: toolCallId, name: toolName }, value, number)
}

/** Returns whether an output is a value, or content with an asset in it. */
function isValue(output: ModelOutput): boolean {
  if (output.type === 'text' || output.type === 'json') return true
  if (output.type !== 'content') return false
  return output.value.some((part) => part.type === 'file' && isAssetUrl(part.data))
}
