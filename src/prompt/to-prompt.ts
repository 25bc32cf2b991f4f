import type {
  JSONValue,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import { isPlainObject } from '../core/json/json.ts'
import { asModelWrote } from '../core/messages/read-metadata.ts'
import { limitOf, type ModelCapabilities } from '../models/model-capabilities.ts'
import { nodeBuiltin } from '../node-builtin.ts'
import type {
  AnswerContent,
  AssistantItem,
  FilePart,
  ResolvedItem,
  ResolvedResult,
} from './transcript-item.ts'

type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content']

const { createHash } = nodeBuiltin('node:crypto')

/** The parts of a prompt before and after its items. */
export interface PromptFrame {
  /** The instructions. An empty text is left out. */
  system: string
  capabilities: ModelCapabilities
  /** Items for this call only. They come last, after the cache marks. */
  tail?: readonly ResolvedItem[]
}

/**
 * Makes the prompt of a model call from the messages of {@link itemMessages}, with marks for the provider's cache.
 * Only this file knows the AI SDK's message format.
 */
export function framedPrompt(
  messages: readonly LanguageModelV4Message[],
  { system, capabilities, tail = [] }: PromptFrame,
): LanguageModelV4Prompt {
  const start: LanguageModelV4Message[] = isBlank(system)
    ? []
    : [{ role: 'system', content: system.toWellFormed() }]
  const end = tail.flatMap((item) => itemMessages(item, capabilities))
  const made = start.concat(messages, end)
  const all = capabilities.providerCallIds ? withoutOpenCalls(made) : made
  if (capabilities.strictRoles) return inStrictRoles(all)
  return withCacheMarks(all, end.length, capabilities)
}

/**
 * Leaves out calls of the provider that have no result and are followed by a user message, because the provider rejects
 * them. Without a user message, the provider continues with them.
 */
function withoutOpenCalls(messages: readonly LanguageModelV4Message[]): LanguageModelV4Message[] {
  const answered = new Set<string>()
  let isFollowed = false
  const kept = messages.toReversed().flatMap((message): LanguageModelV4Message[] => {
    isFollowed ||= message.role === 'user'
    if (message.role !== 'assistant') return [message]
    for (const part of message.content) {
      if (part.type === 'tool-result') answered.add(part.toolCallId)
    }
    const isSent = (part: AssistantContent[number]): boolean =>
      part.type !== 'tool-call' ||
      !part.providerExecuted ||
      !isFollowed ||
      answered.has(part.toolCallId)
    if (message.content.every(isSent)) return [message]
    const content = withoutLastReasoning(message.content.filter(isSent))
    return content.length > 0 ? [{ ...message, content }] : []
  })
  return kept.reverse()
}

/** An answer between tool results and a user message, because some providers reject a user message after results. */
const BRIDGE: LanguageModelV4Message = {
  role: 'assistant',
  content: [{ type: 'text', text: 'I have the results.' }],
}

/** Joins user messages that follow each other, and puts an answer between tool results and any other message. */
export function inStrictRoles(messages: readonly LanguageModelV4Message[]): LanguageModelV4Prompt {
  const joined: LanguageModelV4Message[] = []
  for (const message of messages) {
    const last = joined.at(-1)
    if (message.role === 'user' && last?.role === 'user') {
      joined[joined.length - 1] = { ...last, content: [...last.content, ...message.content] }
      continue
    }
    if (last?.role === 'tool' && message.role !== 'assistant') joined.push(BRIDGE)
    joined.push(message)
  }
  return joined
}

/** Converts one item to messages. They are never changed afterwards, so that the next prompt can reuse them. */
export function itemMessages(
  item: ResolvedItem,
  capabilities: ModelCapabilities,
): LanguageModelV4Message[] {
  return withoutRejectedParts(messagesOf(item, capabilities), capabilities)
}

function messagesOf(item: ResolvedItem, capabilities: ModelCapabilities): LanguageModelV4Message[] {
  if (item.type === 'results') {
    return item.results.length > 0 ? resultMessages(item.results, capabilities) : []
  }
  if (item.type === 'system') return [systemMessage(item.text, capabilities)]
  return item.type === 'user'
    ? [userMessage(item, capabilities)]
    : assistantMessages(item, capabilities)
}

/**
 * Replaces parts that would make a provider reject the whole prompt: a tool name that a model invented, the id of a
 * call from another provider or of a command, an empty result, and half of a surrogate pair. The log keeps the
 * original, so without this, every later call of the conversation would fail.
 */
function withoutRejectedParts(
  messages: LanguageModelV4Message[],
  { callIds }: ModelCapabilities,
): LanguageModelV4Message[] {
  const readable = isWellFormed(messages) ? messages : wellFormed(messages)
  return readable.map((message) => {
    const { role } = message
    if (role !== 'assistant' && role !== 'tool') return message
    const content = message.content.map((part) => {
      if (part.type !== 'tool-call' && part.type !== 'tool-result') return part
      const toolCallId = callIdFor(part.toolCallId, callIds)
      const toolName = nameFor(part.toolName)
      if (part.type === 'tool-call') return { ...part, toolCallId, toolName }
      return { ...part, toolCallId, toolName, output: withText(part.output) }
    })
    return { ...message, content } as LanguageModelV4Message
  })
}

/** Returns the id, or a short hash of it if the provider would reject it. */
function callIdFor(id: string, accepted: RegExp | null): string {
  if (accepted?.test(id) ?? true) return id
  const hash = createHash('sha256').update(id).digest('base64url')
  return hash.replace(/[^A-Za-z0-9]/g, '').slice(0, 9)
}

/** Replaces a blank text in an output. */
function withText(output: LanguageModelV4ToolResultOutput): LanguageModelV4ToolResultOutput {
  return output.type === 'text' && isBlank(output.value)
    ? { ...output, value: '(empty result)' }
    : output
}

/** Returns the name of a tool with only the characters that all providers accept. */
function nameFor(name: string): string {
  return NAME.test(name) ? name : name.replace(/[^\w-]+/g, '_').slice(0, 64) || '_'
}

const NAME = /^[\w-]{1,64}$/

/** Whether no text in a value has half of a surrogate pair, such as a text that was cut inside an emoji. */
function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (Array.isArray(value)) return value.every(isWellFormed)
  if (!isPlainObject(value)) return true
  for (const key in value) if (!(key.isWellFormed() && isWellFormed(value[key]))) return false
  return true
}

/** Replaces the halves of surrogate pairs in a value. */
function wellFormed<T>(value: T): T {
  if (typeof value === 'string') return value.toWellFormed() as T
  if (Array.isArray(value)) return value.map(wellFormed) as T
  if (!isPlainObject(value)) return value
  const entries = Object.entries(value).map(([key, one]) => [key.toWellFormed(), wellFormed(one)])
  return Object.fromEntries(entries)
}

/** Returns a system message, or a user message with a heading if the provider accepts system messages only first. */
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
    .filter((part) => part.type === 'file' || !isBlank(part.text))
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

/** Whether a text is empty or only whitespace. Providers reject such texts. */
function isBlank(text: string): boolean {
  return text.trim() === ''
}

function assistantMessages(
  { parts, calls }: AssistantItem,
  { providerCallIds }: ModelCapabilities,
): LanguageModelV4Message[] {
  const shown = parts
    .filter((part) => {
      if (part.type === 'text') return !isBlank(part.text)
      return part.type === 'reasoning' || (providerCallIds?.test(part.id) ?? false)
    })
    .map(toPart)
  const called = calls.flatMap((call) => {
    const { name, arguments: input } = asModelWrote(call)
    const ids = { toolCallId: call.id, toolName: name }
    const part = { type: 'tool-call' as const, ...ids, input, ...providerOptions(call) }
    return [...(call.thoughts ?? []).map(toPart), part]
  })
  const content = withoutLastReasoning([...shown, ...called])
  return content.length > 0 ? [{ role: 'assistant', content }] : []
}

/** An interrupted answer may end with reasoning. Providers reject reasoning without anything after it. */
function withoutLastReasoning(content: AssistantContent): AssistantContent {
  return content.slice(0, 1 + content.findLastIndex(({ type }) => type !== 'reasoning'))
}

function toPart(part: AnswerContent): AssistantContent[number] {
  const options = providerOptions(part)
  if ('text' in part) return { type: part.type, text: part.text, ...options }
  const { id: toolCallId, name: toolName, value, is_error } = part
  const ids = { toolCallId, toolName, ...options }
  if (part.type === 'provider_call') {
    return { type: 'tool-call', ...ids, input: value, providerExecuted: true }
  }
  const output = { type: is_error ? 'error-json' : 'json', value: value as JSONValue } as const
  return { type: 'tool-result', ...ids, output }
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
 * Adds marks for the provider's cache to the system message and to the last message before the tail. The last message of
 * the previous call gets one too, because providers search only a few blocks back. Returns the same prompt if the
 * provider needs no marks. Messages are copied, never changed.
 *
 * @param tail The number of messages at the end that are for this call only.
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

/** The values of `imageDetail` that providers know. */
const DETAILS = /^(low|high|auto)$/

/** Converts a resolved body to a file part of the AI SDK. */
export function toFilePart(
  { mediaType, fileName, detail, data }: FilePart,
  { detailOption, sameNames }: Pick<ModelCapabilities, 'detailOption' | 'sameNames'>,
): LanguageModelV4FilePart {
  const hasDetail = detailOption !== null && detail !== undefined && DETAILS.test(detail)
  return {
    type: 'file',
    mediaType,
    data,
    // Without names, the provider's package numbers the files. Their markers have the names.
    ...(fileName === undefined || !sameNames ? {} : { filename: fileName }),
    ...(hasDetail ? { providerOptions: { [detailOption]: { imageDetail: detail } } } : {}),
  }
}

/** The capabilities that determine where the files of results are sent. */
export type ResultCapabilities = Pick<
  ModelCapabilities,
  'takesInResults' | 'urlsInResults' | 'detailOption' | 'sameNames'
>

/**
 * Converts the results of one answer's calls to messages: one with the results, and after it a user message with
 * files that the model does not accept inside results.
 */
export function resultMessages(
  results: readonly ResolvedResult[],
  capabilities: ResultCapabilities,
): LanguageModelV4Message[] {
  const outside: (LanguageModelV4TextPart | LanguageModelV4FilePart)[] = []
  const content = results.map((result): LanguageModelV4ToolResultPart => {
    const { toolCallId, toolName } = result
    const files = result.media.filter((part) => part.type === 'file')
    const inside = files.filter((file) => !result.isError && goesInside(file, capabilities))
    for (const file of files.filter((other) => !inside.includes(other))) {
      outside.push({
        type: 'text',
        text: `[From the result of ${toolName}, call ${toolCallId}: ${file.ref}]`,
      })
      outside.push(toFilePart(file, capabilities))
    }
    const output = outputOf(
      result,
      inside.map((file) => toFilePart(file, capabilities)),
    )
    return { type: 'tool-result', toolCallId, toolName, output }
  })
  const messages: LanguageModelV4Message[] = [{ role: 'tool', content }]
  if (outside.length > 0) messages.push({ role: 'user', content: outside })
  return messages
}

/** Whether a file can be sent inside a tool result. */
function goesInside({ mediaType, data }: FilePart, capabilities: ResultCapabilities): boolean {
  if (data.type === 'url' && !capabilities.urlsInResults) return false
  return limitOf(capabilities.takesInResults, mediaType) !== null
}

function outputOf(
  { isError, output, media }: ResolvedResult,
  files: readonly LanguageModelV4FilePart[],
): LanguageModelV4ToolResultOutput {
  const notes = media.flatMap((part) => (part.type === 'text' ? part.text : []))
  if (notes.length === 0 && files.length === 0) {
    if (output.type === 'text')
      return { type: isError ? 'error-text' : 'text', value: output.value }
    return { type: isError ? 'error-json' : 'json', value: output.value }
  }
  const shown = output.type === 'text' ? output.value : JSON.stringify(output.value)
  const text = [shown, ...notes].join('\n')
  if (files.length === 0) return { type: isError ? 'error-text' : 'text', value: text }
  return { type: 'content', value: [{ type: 'text', text }, ...files] }
}
