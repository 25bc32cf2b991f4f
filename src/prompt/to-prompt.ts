import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { ModelCapabilities } from '../model/capabilities.ts'
import type { ResolvedItem } from './transcript-item.ts'

/** What a prompt has around its items. */
export interface PromptFrame {
  /** The instructions; an empty text is left out. */
  system: string
  capabilities: ModelCapabilities
  /** What is made anew for each call and stands last, behind the cache's marks. */
  tail?: readonly ResolvedItem[]
}

/** The prompt of a model call, marked for the provider's cache. */
export function toPrompt(
  _items: readonly ResolvedItem[],
  _frame: PromptFrame,
): LanguageModelV4Prompt {
  throw new Error('follows')
}

/** The messages of one item. They are never changed afterwards, so that they can be kept for the next prompt. */
export function itemMessages(
  _item: ResolvedItem,
  _capabilities: ModelCapabilities,
): LanguageModelV4Message[] {
  throw new Error('follows')
}

/** A prompt of messages that are made already: {@link toPrompt} with kept messages. */
export function framedPrompt(
  _messages: readonly LanguageModelV4Message[],
  _frame: PromptFrame,
): LanguageModelV4Prompt {
  throw new Error('follows')
}
