import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ReasoningPart,
  LanguageModelV4TextPart,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import type { Board } from '../content/board.ts'
import { escapeBlocks } from '../content/escape-blocks.ts'
import type { Attachment, Message, ToolCall } from '../content/message.ts'
import { placeData } from '../content/place-data.ts'
import type { DataEntry } from '../content/render-data.ts'
import type { ModelCapabilities } from '../model/capabilities.ts'
import { limitOf } from '../model/taken-types.ts'
import { isAssetRef, parseAssetRef } from '../refs/asset-ref.ts'
import { formatLabel } from '../refs/variable-ref.ts'

/** What a prompt is made of, beside the conversation. */
export interface PromptSource {
  /** System texts; empty ones are left out. */
  system: readonly string[]
  /** The block of the assets' metas, or null where there is none. It comes last. */
  metas: string | null
  capabilities: Promise<ModelCapabilities>
  /**
   * Which media go as parts beside their text markers: `all` (default); `fetched`, only what `fetch_asset` read in the
   * last step (`resolveInLLM: false`); `none`, where reading a body would use it up.
   */
  media?: 'all' | 'fetched' | 'none'
  /** The bytes behind a reference, or null where there is nothing to send. */
  load(ref: string): Promise<{ bytes: Uint8Array; mime: string } | null>
}

/** The conversation that a prompt shows. */
export interface PromptConversation {
  messages: readonly Message[]
  /** The board of their data. */
  board: Board
}

/** Makes the prompts of one conversation. */
export interface PromptBuilder {
  /** The prompt of the next model call. What earlier calls of this were made of is not made again. */
  build(conversation: PromptConversation, source: PromptSource): Promise<LanguageModelV4Prompt>
}

/** What a model thought, as an assistant's message keeps it in `metadata.reasoning`. */
export interface StoredReasoning {
  text: string
  /** The provider's own, to be sent back to it unchanged: signatures, item ids. */
  provider_metadata?: Record<string, unknown>
}

/** Of a list of rows among the data the model sees as many as of a table's; by † it has all of them. */
const MAX_ROWS = 3

type UserPart = LanguageModelV4TextPart | LanguageModelV4FilePart

/**
 * Our conversation as the prompt of a model: the one place where references become what a model takes. Every call is
 * followed by its result, or by the note that it has none, as providers demand. A builder belongs to one conversation
 * whose messages are only ever added to; each prompt costs what is new since the one before.
 */
export function createPromptBuilder(): PromptBuilder {
  /** Null where a data block stood that is now further down. */
  const items: (LanguageModelV4Message | null)[] = []
  /** Messages with media, which are read for each prompt, by their place among the items. */
  const withMedia = new Map<number, Message>()
  const blocks = new Map<string, number>()
  const lastCalls: LastCalls = { message: null, results: new Map() }
  let done = 0
  /** Whether no item is null. */
  let isWhole = true

  function take({ messages, board }: PromptConversation): void {
    const fresh = messages.slice(done)
    done = messages.length
    const results = resultsByCall(fresh)
    for (const item of placeData(fresh, { board, maxRows: MAX_ROWS })) {
      if (item.type === 'data') placeBlock(item.entry, item.text)
      else placeMessage(item.message, results)
    }
  }

  function placeBlock({ kind, instance }: DataEntry, text: string): void {
    const label = formatLabel(kind, instance)
    const before = blocks.get(label)
    if (before !== undefined) {
      items[before] = null
      isWhole = false
    }
    blocks.set(label, items.push({ role: 'user', content: [{ type: 'text', text }] }) - 1)
  }

  function placeMessage(message: Message, results: ReadonlyMap<string, Message>): void {
    if (message.message_type === 'log' || message.metadata.tool_result) return
    lastCalls.message = null
    if (message.sender.participant_role === 'assistant') {
      items.push(...assistantMessages(message, results))
      if (message.metadata.tool_calls?.length) Object.assign(lastCalls, { message, results })
      return
    }
    if (mediaOf(message).length > 0) withMedia.set(items.length, message)
    items.push({ role: 'user', content: textParts(message) })
  }

  /** The items, those with media with what the model takes of these. */
  async function withParts(source: PromptSource): Promise<(LanguageModelV4Message | null)[]> {
    const shown = items.slice()
    for (const [i, message] of withMedia) {
      shown[i] = { role: 'user', content: await userParts(message, source) }
    }
    return shown
  }

  return {
    async build(conversation, source) {
      if (conversation.messages.length > done) take(conversation)
      const { system, metas } = source
      const instructions = system.filter(Boolean).join('\n\n')
      const start: LanguageModelV4Message[] = []
      if (instructions) start.push({ role: 'system', content: instructions })
      // All at once where that is possible: one by one costs more than all else in a long conversation.
      const shown = withMedia.size > 0 ? await withParts(source) : items
      const prompt = start.concat(
        isWhole ? (shown as LanguageModelV4Message[]) : shown.filter((item) => item !== null),
      )
      prompt.push(...(await fetchedParts(lastCalls, source)))
      if (metas) prompt.push({ role: 'user', content: [{ type: 'text', text: metas }] })
      return prompt
    },
  }
}

/** The last answer with calls, and their results. */
interface LastCalls {
  message: Message | null
  results: ReadonlyMap<string, Message>
}

/** The first result of each call; a second one for the same call is the app's to show, not the model's to read. */
function resultsByCall(messages: readonly Message[]): Map<string, Message> {
  const results = new Map<string, Message>()
  for (const message of messages) {
    const id = message.metadata.tool_result?.tool_call_id
    if (id !== undefined && !results.has(id)) results.set(id, message)
  }
  return results
}

function assistantMessages(
  message: Message,
  results: ReadonlyMap<string, Message>,
): LanguageModelV4Message[] {
  const calls = message.metadata.tool_calls ?? []
  const text = textOf(message)
  const markers = (message.metadata.attachments ?? []).map(marker)
  const said = [text, ...markers].filter(Boolean).join('\n')
  const spoken: LanguageModelV4Message = {
    role: 'assistant',
    content: [
      ...reasoningOf(message),
      ...(said ? [{ type: 'text' as const, text: said }] : []),
      ...calls.map(
        (call): LanguageModelV4ToolCallPart => ({
          type: 'tool-call',
          toolCallId: call.id,
          toolName: call.name,
          input: call.arguments,
          ...providerOptions(call as ToolCall & Stored),
        }),
      ),
    ],
  }
  // An answer of nothing is nothing that a provider takes.
  if (spoken.content.length === 0) return []
  if (calls.length === 0) return [spoken]
  return [
    spoken,
    { role: 'tool', content: calls.map((call) => toolResult(call, results.get(call.id))) },
  ]
}

/** What `fetch_asset` read in the last step, as far as the model takes it: in this prompt and in no later one. */
async function fetchedParts(
  { message, results }: LastCalls,
  source: PromptSource,
): Promise<LanguageModelV4Message[]> {
  const content: UserPart[] = []
  for (const { id } of message?.metadata.tool_calls ?? []) {
    const read = (results.get(id)?.content ?? {}) as Record<string, unknown>
    const { fetched, assetRef, mimeType, start, end } = read
    if (fetched !== true || typeof assetRef !== 'string') continue
    const kind = String(mimeType).startsWith('image/') ? 'image' : 'file'
    const attachment: Attachment = { kind, assetRef, mimeType: String(mimeType) }
    content.push({ type: 'text', text: marker(attachment) })
    // Some bytes of a picture are no picture.
    const isWhole = start === undefined && end === undefined
    const part = isWhole && source.media !== 'none' ? await filePart(attachment, source) : null
    const unseen = `[the model takes no ${mimeType}; ask fetch_asset for format "text", or pass the reference on]`
    content.push(part ?? { type: 'text', text: unseen })
  }
  return content.length > 0 ? [{ role: 'user', content }] : []
}

type Stored = { provider_metadata?: Record<string, unknown> }

function providerOptions({ provider_metadata }: Stored): {
  providerOptions?: SharedV4ProviderOptions
} {
  return provider_metadata ? { providerOptions: provider_metadata as SharedV4ProviderOptions } : {}
}

function reasoningOf({ metadata }: Message): LanguageModelV4ReasoningPart[] {
  const stored = Array.isArray(metadata.reasoning) ? (metadata.reasoning as StoredReasoning[]) : []
  return stored.map((thought) => ({
    type: 'reasoning',
    text: thought.text,
    ...providerOptions(thought),
  }))
}

function toolResult(call: ToolCall, result: Message | undefined): LanguageModelV4ToolResultPart {
  const part = { type: 'tool-result', toolCallId: call.id, toolName: call.name } as const
  if (!result) {
    const value = 'interrupted: the call has no result; it may or may not have had its effect'
    return { ...part, output: { type: 'error-text', value } }
  }
  const error = result.metadata.tool_result?.error
  if (error)
    return { ...part, output: { type: 'error-text', value: `${error.code}: ${error.message}` } }
  if (typeof result.content === 'string') {
    return { ...part, output: { type: 'text', value: escapeBlocks(result.content) } }
  }
  return { ...part, output: { type: 'json', value: (result.content ?? null) as never } }
}

async function userParts(message: Message, source: PromptSource): Promise<UserPart[]> {
  const parts: UserPart[] = []
  const text = textOf(message)
  if (text) parts.push({ type: 'text', text })
  const { media = 'all' } = source
  for (const attachment of mediaOf(message)) {
    parts.push({ type: 'text', text: marker(attachment) })
    const file = media === 'all' ? await filePart(attachment, source) : null
    if (file) parts.push(file)
  }
  return parts
}

function textParts(message: Message): UserPart[] {
  return [{ type: 'text', text: textOf(message) || '(empty message)' }]
}

function mediaOf(message: Message): Attachment[] {
  return [...imageParts(message), ...(message.metadata.attachments ?? [])]
}

/** The images among the parts of a message, by reference (binary-assets.md, "LLM Resolution"). */
function imageParts({ content, content_type }: Message): Attachment[] {
  if (content_type !== 'multipart/mixed' || !Array.isArray(content)) return []
  return content.flatMap((part): Attachment[] => {
    const url: unknown = part?.image_url?.url
    if (part?.type !== 'image_url' || !isAssetRef(url)) return []
    return [{ kind: 'image', assetRef: url as string, mimeType: 'image/*' }]
  })
}

/** The words of a message: parts joined, anything that is no text as JSON, our own headings made harmless. */
function textOf({ content, content_type }: Message): string {
  if (typeof content === 'string') return escapeBlocks(content)
  if (content === null || content === undefined) return ''
  if (content_type === 'multipart/mixed' && Array.isArray(content)) {
    const texts = content.map((part) => (part?.type === 'text' ? String(part.text) : ''))
    return escapeBlocks(texts.filter(Boolean).join('\n'))
  }
  return escapeBlocks(JSON.stringify(content))
}

/** `[Attached image: asset_id="…"]` (binary-assets.md, "Message Attachments"), with the file's name and the field. */
function marker({ kind, assetRef, fileName }: Attachment): string {
  const { id, fieldPath } = parseAssetRef(assetRef) ?? { id: assetRef }
  const name = fileName ? ` name=${JSON.stringify(fileName)}` : ''
  const field = fieldPath ? ` ref=${JSON.stringify(assetRef)}` : ''
  return `[Attached ${kind}: asset_id=${JSON.stringify(id)}${name}${field}]`
}

async function filePart(
  { kind, assetRef, mimeType, fileName }: Attachment,
  { capabilities, load }: PromptSource,
): Promise<UserPart | null> {
  const { takes } = await capabilities
  if (kind !== 'image' || (mimeType !== 'image/*' && limitOf(takes, mimeType) === null)) return null
  if (!Object.keys(takes).some((type) => type.startsWith('image/'))) return null
  const found = await load(assetRef)
  if (!found) return { type: 'text', text: `[unresolved ${kind}: ${assetRef}]` }
  const { bytes, mime } = found
  const maxBytes = limitOf(takes, mime)
  if (maxBytes === null) return null
  if (bytes.length > maxBytes) {
    const limit = `${bytes.length} bytes, more than the ${maxBytes} that the model takes`
    return { type: 'text', text: `[${kind} not shown: ${assetRef}, ${mime}, ${limit}]` }
  }
  return { type: 'file', mediaType: mime, filename: fileName, data: { type: 'data', data: bytes } }
}
