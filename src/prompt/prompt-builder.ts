import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { MediaSource } from './media/media-source.ts'
import { resolveMedia } from './media/resolve-media.ts'
import { framedPrompt, itemMessages } from './to-prompt.ts'
import { type PromptConversation, Transcript, type TranscriptOptions } from './transcript.ts'
import {
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
