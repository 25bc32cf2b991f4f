import type {
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import type { ModelCapabilities } from '../models/model-capabilities.ts'
import { toFilePart } from './file-part.ts'
import { resultMessages } from './result-message.ts'
import type { ResolvedItem } from './transcript-item.ts'

/** The parts of a prompt around its items. */
export interface PromptFrame {
  /** The instructions. An empty text is left out. */
  system: string
  capabilities: ModelCapabilities
  /** Items that are new for each call. They come last, after the cache marks. */
  tail?: readonly ResolvedItem[]
}

/**
 * Makes the prompt of a model call, with marks for the provider's cache. Only this function and {@link
 * itemMessages} know the AI SDK's message format.
 */
export function toPrompt(
  items: readonly ResolvedItem[],
  frame: PromptFrame,
): LanguageModelV4Prompt {
  return framedPrompt(
    items.flatMap((item) => itemMessages(item, frame.capabilities)),
    frame,
  )
}

/** Like {@link toPrompt}, for messages that {@link itemMessages} has already made. */
export function framedPrompt(
  messages: readonly LanguageModelV4Message[],
  { system, capabilities, tail = [] }: PromptFrame,
): LanguageModelV4Prompt {
  const start: LanguageModelV4Message[] = system ? [{ role: 'system', content: system }] : []
  const end = tail.flatMap((item) => itemMessages(item, capabilities))
  return withCacheMarks(start.concat(messages, end), end.length, capabilities)
}

/** Converts one item to messages. They are never changed afterwards, so that the next prompt can reuse them. */
export function itemMessages(
  item: ResolvedItem,
  capabilities: ModelCapabilities,
): LanguageModelV4Message[] {
  if (item.type === 'results') {
    return item.results.length > 0 ? resultMessages(item.results, capabilities) : []
  }
  if (item.type === 'system') return [systemMessage(item.text, capabilities)]
  return item.type === 'user' ? [userMessage(item, capabilities)] : assistantMessages(item)
}

/** If a provider takes system messages only at the start, later ones become user messages with a heading. */
function systemMessage(
  text: string,
  { systemAnywhere }: ModelCapabilities,
): LanguageModelV4Message {
  if (systemAnywhere) return { role: 'system', content: text }
  return { role: 'user', content: [{ type: 'text', text: `[Message from the system]\n${text}` }] }
}

function userMessage(
  { parts }: Extract<ResolvedItem, { type: 'user' }>,
  capabilities: ModelCapabilities,
): LanguageModelV4Message {
  const content = parts
    .filter((part) => part.type === 'file' || part.text !== '')
    .map((part) =>
      part.type === 'file'
        ? toFilePart(part, capabilities)
        : { type: 'text' as const, text: part.text },
    )
  // Providers reject an empty message.
  return {
    role: 'user',
    content: content.length > 0 ? content : [{ type: 'text', text: '(empty message)' }],
  }
}

function assistantMessages({
  parts,
  calls,
}: Extract<ResolvedItem, { type: 'assistant' }>): LanguageModelV4Message[] {
  const said = parts
    .filter(({ type, text }) => type === 'reasoning' || text !== '')
    .map((part) =>
      part.type === 'reasoning'
        ? { type: part.type, text: part.text, ...providerOptions(part) }
        : { type: part.type, text: part.text },
    )
  const called = calls.map((call) => ({
    type: 'tool-call' as const,
    toolCallId: call.id,
    toolName: call.name,
    input: call.arguments,
    ...providerOptions(call),
  }))
  const content = [...said, ...called]
  return content.length > 0 ? [{ role: 'assistant', content }] : []
}

function providerOptions({ provider_metadata }: { provider_metadata?: Record<string, unknown> }): {
  providerOptions?: SharedV4ProviderOptions
} {
  return provider_metadata ? { providerOptions: provider_metadata as SharedV4ProviderOptions } : {}
}

/** The cache mark of each provider. */
const MARKS: Readonly<Record<'anthropic' | 'bedrock', SharedV4ProviderOptions>> = {
  anthropic: { anthropic: { cacheControl: { type: 'ephemeral' } } },
  bedrock: { bedrock: { cachePoint: { type: 'default' } } },
}

/**
 * Adds marks for the provider's cache: at the end of the system message, at the last message before the tail, and
 * where that mark was in the previous call, because providers search only a few blocks back. Returns the same
 * prompt if the provider needs no marks. Messages are copied, never changed.
 *
 * @param tail How many messages at the end are made anew for each call.
 */
function withCacheMarks(
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
