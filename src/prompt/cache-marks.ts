import type {
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import type { ModelCapabilities } from '../model/model-capabilities.ts'

/** What each provider wants at the end of what it is to keep. */
const MARKS: Readonly<Record<'anthropic' | 'bedrock', SharedV4ProviderOptions>> = {
  anthropic: { anthropic: { cacheControl: { type: 'ephemeral' } } },
  bedrock: { bedrock: { cachePoint: { type: 'default' } } },
}

/**
 * The prompt with marks for its provider's cache: at the end of the system's text, at the last message before the tail,
 * and where that mark stood in the call before, since providers look back over a few blocks only. The same prompt where
 * the provider wants none; messages are never changed, but replaced by copies.
 *
 * @param tail How many messages at the end are made anew for each call.
 */
export function withCacheMarks(
  prompt: LanguageModelV4Prompt,
  tail: number,
  { cacheMarks }: Pick<ModelCapabilities, 'cacheMarks'>,
): LanguageModelV4Prompt {
  if (cacheMarks === null) return prompt
  const end = prompt.length - tail - 1
  const answer = prompt.findLastIndex(({ role }, i) => i <= end && role === 'assistant')
  const system = prompt[0]?.role === 'system' ? 0 : -1
  const marked = prompt.slice()
  for (const i of new Set([system, answer - 1, end])) {
    const message = prompt[i]
    if (i >= 0 && message) marked[i] = withMark(message, MARKS[cacheMarks])
  }
  return marked
}

function withMark(
  message: LanguageModelV4Message,
  mark: SharedV4ProviderOptions,
): LanguageModelV4Message {
  return { ...message, providerOptions: { ...message.providerOptions, ...mark } }
}
