import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { ConversationState, StepState } from '../core/events/conversation-state.ts'
import type { CompactionReason } from '../core/events/events.ts'
import type { Message } from '../core/messages/message.ts'
import { estimateTokens } from '../core/messages/metas-block.ts'
import { readMetadata } from '../core/messages/read-metadata.ts'
import type { MediaSource } from './media/media-source.ts'
import { resolveMedia } from './media/resolve-media.ts'
import type { PromptBudget } from './plan-compaction.ts'
import { framedPrompt, itemMessages } from './to-prompt.ts'
import { type PromptConversation, Transcript, type TranscriptOptions } from './transcript.ts'
import {
  isBody,
  jsonTokens,
  MEDIA_TOKENS,
  mediaOfItem,
  type ResolvedItem,
  type TextPart,
  type TranscriptItem,
} from './transcript-item.ts'
import { marker } from './user-parts.ts'

/** The parts of a prompt that do not come from the conversation. */
export interface PromptSource extends Omit<MediaSource, 'media'> {
  /** The instructions, and the guide to references. */
  system: readonly string[]
  /** A text at the end of the prompt, for this call only. */
  tail: readonly string[]
  /**
   * Which files are sent besides their text markers. `all`: every file. `fetched`: only those that `fetch_asset`
   * has read in the last step (`resolveInLLM: false`). `none`: no file, because the store gives each body only
   * once.
   */
  media: 'all' | 'fetched' | 'none'
}

/**
 * Makes the prompts of one conversation in three steps: the transcript, the files as the model accepts them, and the AI
 * SDK's messages. Every call is followed by its result, or by a note that it has none, because providers require that.
 * Until a compaction, each prompt starts with the previous one, without its tail.
 */
export class PromptBuilder {
  readonly transcript: Transcript
  /** The items and the capabilities that `#byItem` is for. */
  #shown: Transcript['shown'] | null = null
  #capabilities: PromptSource['capabilities'] | null = null
  /** The messages of each item; null for an item with files, which are resolved for each prompt. */
  #byItem: (readonly LanguageModelV4Message[] | null)[] = []
  #withMedia: TranscriptItem[] = []
  /** All messages, if no item has files. Making the list for each step would cost up to a quarter of a long run. */
  #flat: LanguageModelV4Message[] = []

  constructor(options: TranscriptOptions) {
    this.transcript = new Transcript(options)
  }

  /** Returns the prompt of the next model call. Parts that were made for earlier calls are reused. */
  async build(
    conversation: PromptConversation,
    source: PromptSource,
  ): Promise<LanguageModelV4Prompt> {
    const { capabilities } = source
    this.transcript.update(conversation)
    this.#convertNew(source)
    const { system, fetched } = this.transcript.shown
    const lastItems = tailOf(fetched, source)
    const media = source.media === 'none' ? 'none' : 'all'
    const tail = lastItems.length > 0 ? await resolveMedia(lastItems, { ...source, media }) : []
    const messages = await this.#messages({ ...source, last: tail })
    const instructions = [...source.system, ...system].filter(Boolean).join('\n\n')
    return framedPrompt(messages, { system: instructions, capabilities, tail })
  }

  #convertNew({ capabilities }: PromptSource): void {
    const { shown } = this.transcript
    if (this.#shown !== shown || this.#capabilities !== capabilities) {
      this.#byItem = []
      this.#withMedia = []
      this.#flat = []
      this.#shown = shown
      this.#capabilities = capabilities
    }
    for (const item of shown.items.slice(this.#byItem.length)) {
      const hasMedia = mediaOfItem(item).length > 0
      if (hasMedia) this.#withMedia.push(item)
      const messages = hasMedia ? null : itemMessages(item as ResolvedItem, capabilities)
      this.#byItem.push(messages)
      if (messages) this.#flat.push(...messages)
    }
  }

  async #messages(source: PromptSource): Promise<readonly LanguageModelV4Message[]> {
    if (this.#withMedia.length === 0) return this.#flat
    const media = source.media === 'all' ? 'all' : 'none'
    const resolved = await resolveMedia(this.#withMedia, { ...source, media })
    let next = 0
    return this.#byItem.flatMap((messages) => {
      return messages ?? itemMessages(resolved[next++] as ResolvedItem, source.capabilities)
    })
  }
}

/** Returns the part that is new for each call: fetched bodies, and notes about missing ones. */
function tailOf(fetched: Transcript['shown']['fetched'], { tail }: PromptSource): TranscriptItem[] {
  const read = fetched.flatMap((part) => [textPart(marker(part)), part])
  const parts = [...read, ...tail.map(textPart)]
  return parts.length > 0 ? [{ type: 'user', parts }] : []
}

function textPart(text: string): TextPart {
  return { type: 'text', text }
}

/** The parts of a conversation's state that determine the length of its prompt. */
export type SizedState = Pick<ConversationState, 'messages' | 'runs' | 'compaction'> &
  Partial<Pick<ConversationState, 'deletion'>>

/**
 * Estimates the number of tokens of the next prompt: the last count of the provider, plus an estimate of everything
 * since.
 */
export function promptTokens(
  transcript: Pick<Transcript, 'shown' | 'messages'>,
  { messages, runs, compaction, deletion }: SizedState,
  pending: readonly Message[] = [],
): number {
  const queued = tokensOf(pending)
  const estimated = transcript.shown.tokens + tokensOf(messages.slice(transcript.messages)) + queued
  const step = lastStep(runs)
  const { inputTokens, outputTokens } = step?.usage ?? {}
  // A count from before a compaction or a deletion is outdated. That of several requests is no size.
  const isOutdated = [compaction, deletion].some((one) => one && one.afterStep === step?.messageId)
  if (!step || !inputTokens || isOutdated || step.requests !== undefined) return estimated
  const since = tokensOf(sinceStep(messages, step)) + queued
  // Use at least half of the estimate, in case the provider's count leaves something out.
  return Math.max(inputTokens + (outputTokens ?? 0) + since, estimated / 2)
}

/** Returns the last step that has finished; null if there is none. */
export function lastStep(runs: ConversationState['runs']): StepState | null {
  for (const { steps } of runs.slice(-2).reverse()) {
    const step = steps.findLast(({ finishedAt }) => finishedAt !== undefined)
    if (step) return step
  }
  return null
}

function sinceStep(messages: readonly Message[], { messageId }: StepState): readonly Message[] {
  let start = messages.length
  while (start > 0 && messages[start - 1]?.id !== messageId) start--
  return start === 0 ? [] : messages.slice(start)
}

function tokensOf(messages: readonly Message[]): number {
  return messages.reduce((sum, one) => sum + messageTokens(one), 0)
}

function messageTokens(message: Message): number {
  const { content, message_type: type } = message
  if (type === 'log' || content === null || content === undefined) return 0
  const isText = typeof content === 'string'
  const tokens = isText ? estimateTokens(content) : jsonTokens(content)
  return tokens + attachedTo(message) * MEDIA_TOKENS.image
}

/** Returns the number of attachments of a message. */
function attachedTo({ metadata }: Message): number {
  const attached: unknown = metadata?.attachments
  return Array.isArray(attached) ? attached.length : 0
}

/** The input of {@link compactionDue}. */
export interface CompactionQuestion {
  budget: PromptBudget
  /** The time, in milliseconds since 1970. */
  now: number
  /** Messages that come after those of the state. */
  pending?: readonly Message[]
}

/** Time after which the provider's cache of the last prompt has expired, in milliseconds. */
const COLD_MS = 5 * 60_000

/** How much the prompt must grow after a compaction before its size causes another, as a share of the budget. */
const GROWTH = 0.1

/** Minimum number of tokens of outdated data for a compaction when the provider's cache has expired. */
const STALE_TOKENS = 200

/** Returns why the next prompt must be compacted before it is sent, or null. */
export function compactionDue(
  transcript: Transcript,
  state: SizedState,
  { budget, now, pending = [] }: CompactionQuestion,
): CompactionReason | null {
  const last = pending.at(-1) ?? state.messages.at(-1)
  if (!last || last.id === state.compaction?.through) return null
  const { stale, bodies, tokens, base } = transcript.shown
  const isGrown = base === 0 || tokens + tokensOf(pending) - base > budget.tokens * GROWTH
  if (isGrown && promptTokens(transcript, state, pending) > budget.tokens) return 'size'
  const queued = pending.flatMap((one) => readMetadata(one).attachments.filter(isBody))
  const parts = bodies.parts + queued.length
  if (parts > budget.mediaParts || bodies.bytes > budget.mediaBytes) return 'media'
  const lastAnswer = lastStep(state.runs)?.finishedAt
  const isCold = lastAnswer !== undefined && now - Date.parse(lastAnswer) > COLD_MS
  return isCold && stale > STALE_TOKENS ? 'cold' : null
}
