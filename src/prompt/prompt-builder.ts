import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { MediaSource } from './media/media-source.ts'
import { resolveMedia } from './media/resolve-media.ts'
import { framedPrompt, itemMessages } from './to-prompt.ts'
import {
  createTranscript,
  type PromptConversation,
  type Transcript,
  type TranscriptOptions,
} from './transcript.ts'
import {
  mediaOfItem,
  type ResolvedItem,
  type TextPart,
  type TranscriptItem,
} from './transcript-item.ts'
import { marker } from './user-parts.ts'

/** What a prompt is made with, beside the conversation. */
export interface PromptSource extends Omit<MediaSource, 'media'> {
  /** The instructions, and what is to be said of references from the start. */
  system: readonly string[]
  /** What is to be said behind everything else, for this call alone. */
  tail: readonly string[]
  /**
   * Which bodies go as parts beside their text markers: `all`; `fetched`, only what `fetch_asset` read in the last step
   * (`resolveInLLM: false`); `none`, where reading a body would use it up.
   */
  media: 'all' | 'fetched' | 'none'
}

/** Makes the prompts of one conversation. */
export interface PromptBuilder {
  readonly transcript: Transcript
  /** The prompt of the next model call. What earlier calls of this were made of is not made again. */
  build(conversation: PromptConversation, source: PromptSource): Promise<LanguageModelV4Prompt>
}

/**
 * Our conversation as the prompt of a model, in three steps: what is shown, as what the model takes of it, in the AI SDK's
 * shapes. Every call is followed by its result, or by the note that it has none, as providers demand. Each prompt begins
 * with the one before less its tail, until a compaction.
 */
export function createPromptBuilder(options: TranscriptOptions): PromptBuilder {
  const transcript = createTranscript(options)
  let shown: Transcript['shown'] | null = null
  let capabilities: PromptSource['capabilities'] | null = null
  /** The messages of each item; null for one with bodies, which are looked up for each prompt. */
  let made: (readonly LanguageModelV4Message[] | null)[] = []
  let withMedia: TranscriptItem[] = []
  /** All of them, where none has bodies. */
  let flat: LanguageModelV4Message[] = []

  function take(source: PromptSource): void {
    if (shown !== transcript.shown || capabilities !== source.capabilities) {
      made = []
      withMedia = []
      flat = []
      shown = transcript.shown
      capabilities = source.capabilities
    }
    for (const item of shown.items.slice(made.length)) {
      const hasMedia = mediaOfItem(item).length > 0
      if (hasMedia) withMedia.push(item)
      const messages = hasMedia ? null : itemMessages(item as ResolvedItem, capabilities)
      made.push(messages)
      if (messages) flat.push(...messages)
    }
  }

  async function messagesOf(source: PromptSource): Promise<readonly LanguageModelV4Message[]> {
    if (withMedia.length === 0) return flat
    const media = source.media === 'all' ? 'all' : 'none'
    const resolved = await resolveMedia(withMedia, { ...source, media })
    let next = 0
    return made.flatMap((messages) => {
      return messages ?? itemMessages(resolved[next++] as ResolvedItem, source.capabilities)
    })
  }

  return {
    transcript,
    async build(conversation, source) {
      transcript.update(conversation)
      take(source)
      const messages = await messagesOf(source)
      const { system, fetched } = transcript.shown
      const last = tailOf(fetched, source)
      const media = source.media === 'none' ? 'none' : 'all'
      const tail = last.length > 0 ? await resolveMedia(last, { ...source, media }) : []
      return framedPrompt(messages, {
        system: [...source.system, ...system].filter(Boolean).join('\n\n'),
        capabilities: source.capabilities,
        tail,
      })
    },
  }
}

/** What each call gets anew: the bodies that were read for it, and those that are missing. */
function tailOf(fetched: Transcript['shown']['fetched'], { tail }: PromptSource): TranscriptItem[] {
  const read = fetched.flatMap((part) => [textPart(marker(part)), part])
  const parts = [...read, ...tail.map(textPart)]
  return parts.length > 0 ? [{ type: 'user', parts }] : []
}

function textPart(text: string): TextPart {
  return { type: 'text', text }
}
