import { defined } from '../../core/defined.ts'
import { addUsage } from '../../core/events/conversation-state.ts'
import type { TokenUsage } from '../../core/events/events.ts'
import { shortened } from '../../core/json/cut.ts'
import type { JsonObject, JsonValue } from '../../core/json/json.ts'
import type { KeptReasoning, ToolCall } from '../../core/messages/message.ts'
import type {
  AnswerPart,
  AnswerSource,
  ProviderCallPart,
} from '../../core/messages/read-metadata.ts'
import { endOfWholeRefs } from '../../core/refs/embedded-refs.ts'
import { finishReasonOf } from '../../models/call-model.ts'
import type { ModelStreamPart } from '../../models/language-model.ts'

/** A call as the model wrote it. `problem` is set if its arguments are not a JSON object. */
export interface ModelCall extends ToolCall {
  problem?: string
  /** Metadata that the provider expects with the call in later prompts, such as thought signatures. */
  provider_metadata?: Record<string, unknown>
}

/** A file that a model generated. */
export interface ModelFile {
  mediaType: string
  /** Bytes, or base64 if the provider sent it. */
  data: Uint8Array | string
}

/** One complete answer of a model. */
export interface ModelResponse {
  text: string
  reasoning: KeptReasoning[]
  calls: ModelCall[]
  files: ModelFile[]
  sources?: readonly AnswerSource[]
  /** Its reasoning, texts, calls and calls of the provider in the order in which the model wrote them. */
  parts?: readonly AnswerPart[]
  usage: TokenUsage
  /** The number of requests that the usage counts: those with invalid answers, too. */
  requests: number
  /**
   * The finish reason, as one of the AI SDK's values. `paused`: the provider stopped in the middle of its own calls, and
   * expects the answer so far back to continue it.
   */
  finishReason: string
  /** The provider's metadata for the answer: its id, the exact model, warnings. Absent if there is none. */
  provider?: Record<string, unknown>
}

/** Callbacks of the reader while the answer streams, all optional. A returned promise pauses the reader. */
export interface ResponseListener {
  /** A part of the text. An embedded reference is never split between two deltas. */
  text?(delta: string): void | Promise<void>
  textEnd?(): void | Promise<void>
  /** A part of the reasoning. */
  reasoning?(delta: string): void | Promise<void>
  reasoningEnd?(): void | Promise<void>
  callStart?(id: string, name: string): void | Promise<void>
  callDelta?(id: string, delta: string): void | Promise<void>
  call?(call: ModelCall): void | Promise<void>
}

/** Types of parts before which text that was held back is emitted. */
const FLUSHES: ReadonlySet<ModelStreamPart['type']> = new Set([
  'text-end',
  'tool-input-start',
  'tool-call',
  'file',
  'finish',
])

/** Types of parts between which texts are separate. */
const SEPARATES: ReadonlySet<ModelStreamPart['type']> = new Set([
  ...(['reasoning-start', 'tool-input-start', 'tool-call', 'tool-result', 'file'] as const),
])

/** Whether a part ends the text that is shown. Calls of the provider and files are not shown between texts. */
function endsText(part: ModelStreamPart): boolean {
  if (part?.type === 'tool-input-start' || part?.type === 'tool-call') return !part.providerExecuted
  return part?.type === 'reasoning-start' || part?.type === 'finish'
}

/** What is between separate texts if there is no line break. */
const BREAK = '\n\n'

type TextPart = Extract<AnswerPart, { type: 'text' }>
type TextStreamPart = Extract<ModelStreamPart, { type: `text-${string}` }>

/** Reads a model's stream part by part, for one answer. */
export class ResponseReader {
  /** The answer so far. */
  readonly response: ModelResponse & { parts: AnswerPart[]; sources: AnswerSource[] } = {
    text: '',
    reasoning: [],
    calls: [],
    files: [],
    sources: [],
    parts: [],
    usage: { inputTokens: null, outputTokens: null },
    requests: 0,
    finishReason: 'other',
  }
  readonly #callId: (providerId: string) => string
  readonly #listener: ResponseListener
  readonly #providerCallIds: RegExp | null
  /** The ids of calls that are not complete yet, by the provider's id. */
  readonly #ids = new Map<string, string>()
  readonly #used = new Set<string>()
  readonly #reasoning = new Map<string, KeptReasoning>()
  readonly #texts = new Map<string, TextPart>()
  /** The number of reasoning entries that `takeSigned` has looked at. */
  #signed = 0
  /** Whether a text was emitted and has not ended yet. */
  #isInText = false
  /** A call whose arguments are not a JSON object. The end of the answer may say why. */
  #brokenCall: ModelCall | null = null
  /** Whether something else came after the last text. */
  #isApart = false
  /** The start of an embedded reference whose end has not arrived yet. */
  #pendingText = ''

  /**
   * @param callId Maps the provider's id of a call to a unique one, because some servers use the same ids in every
   *   answer.
   * @param providerCallIds The ids of the provider's own calls that later prompts need. Null if they need none.
   */
  constructor(
    callId: (providerId: string) => string,
    listener: ResponseListener = {},
    providerCallIds: RegExp | null = null,
  ) {
    this.#callId = callId
    this.#listener = listener
    this.#providerCallIds = providerCallIds
  }

  take(part: ModelStreamPart): void | Promise<void> {
    const flushed = FLUSHES.has(part?.type) ? this.#flushText() : undefined
    this.#isApart ||= SEPARATES.has(part?.type)
    const ended = this.#isInText && endsText(part) ? this.#endText() : undefined
    const called = SEPARATES.has(part?.type) ? this.#reportBroken() : undefined
    const taken = this.#takePart(part)
    const before = flushed ?? ended ?? called
    return before ? Promise.all([flushed, ended, called, taken]).then(() => {}) : taken
  }

  #endText(): void | Promise<void> {
    this.#isInText = false
    return this.#listener.textEnd?.()
  }

  /** Whether the provider has counted the tokens of the answer, or of an earlier invalid one. */
  get isCounted(): boolean {
    return Object.values(this.response.usage).some((tokens) => tokens !== null)
  }

  /** Returns the signed reasoning since the last call of this method. */
  takeSigned(): KeptReasoning[] {
    const { reasoning } = this.response
    const fresh = reasoning.slice(this.#signed)
    this.#signed = reasoning.length
    return fresh.filter(isSigned)
  }

  /** Emits what was held back: text, and a call that cannot be read. Call it if the answer was interrupted. */
  async flush(): Promise<void> {
    await this.#flushText()
    await this.#reportBroken()
  }

  #flushText(): void | Promise<void> {
    const text = this.#pendingText
    this.#pendingText = ''
    if (text) return this.#listener.text?.(text)
  }

  #takePart(part: ModelStreamPart): void | Promise<void> {
    switch (part?.type) {
      case 'text-start':
      case 'text-delta':
      case 'text-end':
        if (part.type === 'text-delta' && part.delta) return this.#takeText(part)
        // An empty delta may have metadata: Gemini sends the signature of a text after it.
        this.#textOf(part)
        return
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return this.#takeReasoning(part)
      case 'tool-input-start':
        if (part.providerExecuted) return
        return this.#listener.callStart?.(this.#idOf(part.id), part.toolName)
      case 'tool-input-delta':
        if (!this.#ids.has(part.id)) return
        return this.#listener.callDelta?.(this.#idOf(part.id), part.delta)
      case 'tool-call':
        return this.#takeCall(part)
      case 'tool-result':
        if (!part.preliminary) this.#takeProviderPart(providerResult(part))
        return
      case 'file':
        this.response.files.push(...fileOf(part))
        return
      case 'source':
        this.#takeSource(part)
        return
      case 'stream-start':
        if (part.warnings?.length > 0) this.#note({ warnings: part.warnings })
        return
      case 'response-metadata': {
        const { type: _, ...metadata } = part
        this.#note(metadata)
        return
      }
      case 'finish':
        if (part.providerMetadata) this.#note({ providerMetadata: part.providerMetadata })
        this.response.finishReason = finishReasonOf(part)
        if (this.#brokenCall && this.response.finishReason === 'length')
          this.#brokenCall.problem = LIMIT_REACHED
        // An invalid answer that was requested again counts, too.
        this.response.usage =
          this.response.requests > 0 ? addUsage(this.response.usage, usageOf(part)) : usageOf(part)
        this.response.requests++
        return this.#reportBroken()
    }
  }

  /** Returns the text that a part of the stream belongs to, with the provider's metadata so far. */
  #textOf({ id, providerMetadata }: TextStreamPart): TextPart {
    const text = this.#texts.get(id) ?? { type: 'text', length: 0 }
    if (!this.#texts.has(id)) this.response.parts.push(text)
    this.#texts.set(id, text)
    if (providerMetadata) text.provider_metadata = providerMetadata
    return text
  }

  #takeText(part: Extract<TextStreamPart, { delta: string }>): void | Promise<void> {
    const between = this.#breakBefore(part)
    const { delta } = part
    this.#textOf(part).length += delta.length
    this.response.text += between + delta
    this.#isInText = true
    const text = this.#pendingText + between + delta
    const end = endOfWholeRefs(text)
    this.#pendingText = text.slice(end)
    if (end > 0) return this.#listener.text?.(text.slice(0, end))
  }

  /** Returns what separates a text from the one before it. It is a part of the answer without metadata. */
  #breakBefore(part: Extract<TextStreamPart, { delta: string }>): string {
    const text = this.#textOf(part)
    const before = this.response.text
    // Providers number the blocks of one message. Other ids are those of separate messages.
    const isApart = this.#isApart || !/^\d+$/.test(part.id)
    this.#isApart = false
    const isFirst = before === '' || text.length > 0
    if (isFirst || !isApart || before.endsWith('\n') || part.delta.startsWith('\n')) return ''
    const { parts } = this.response
    parts.splice(parts.indexOf(text), 0, { type: 'text', length: BREAK.length })
    return BREAK
  }

  #takeReasoning(
    part: Extract<ModelStreamPart, { type: `reasoning-${string}` }>,
  ): void | Promise<void> {
    if (!('id' in part)) return
    const reasoning = this.#reasoning.get(part.id) ?? { text: '' }
    if (!this.#reasoning.has(part.id)) {
      this.response.reasoning.push(reasoning)
      this.response.parts.push({ type: 'reasoning' })
    }
    this.#reasoning.set(part.id, reasoning)
    if (part.providerMetadata) reasoning.provider_metadata = part.providerMetadata
    if (part.type === 'reasoning-end') return this.#listener.reasoningEnd?.()
    if (part.type !== 'reasoning-delta' || !part.delta) return
    reasoning.text += part.delta
    return this.#listener.reasoning?.(part.delta)
  }

  #takeCall(part: Extract<ModelStreamPart, { type: 'tool-call' }>): void | Promise<void> {
    const { providerMetadata } = part
    if (part.providerExecuted) {
      this.#takeProviderPart(providerCall(part))
      return
    }
    const call: ModelCall = {
      id: this.#idOf(part.toolCallId),
      name: String(part.toolName),
      ...parseArguments(part.input),
      ...(providerMetadata ? { provider_metadata: providerMetadata } : {}),
    }
    this.response.calls.push(call)
    this.response.parts.push({ type: 'call' })
    // If the provider uses this id again, that is a new call.
    this.#ids.delete(part.toolCallId)
    if (!call.problem) return this.#listener.call?.(call)
    this.#brokenCall = call
  }

  #reportBroken(): void | Promise<void> {
    const call = this.#brokenCall
    this.#brokenCall = null
    if (call) return this.#listener.call?.(call)
  }

  /** Adds a call of the provider, or its result, if later prompts need it. */
  #takeProviderPart(part: ProviderCallPart): void {
    if (this.#providerCallIds?.test(part.id)) this.response.parts.push(part)
  }

  /** Adds a source, once. */
  #takeSource(part: Extract<ModelStreamPart, { type: 'source' }>): void {
    const { sources } = this.response
    if (part.sourceType === 'url') {
      const { url, title } = part
      if (sources.every((one) => one.url !== url)) sources.push(defined({ url, title }))
    } else {
      const { title, mediaType: mimeType, filename: fileName } = part
      sources.push(defined({ title, mimeType, fileName }))
    }
  }

  #idOf(providerId: string): string {
    const text = typeof providerId === 'string' ? providerId : ''
    const id = this.#ids.get(text) ?? this.#callId(this.#used.has(text) ? '' : text)
    this.#ids.set(text, id)
    this.#used.add(id)
    return id
  }

  #note(metadata: Record<string, unknown>): void {
    this.response.provider = { ...this.response.provider, ...metadata }
  }
}

/** Whether the provider, such as Anthropic, checks this reasoning by its signature. */
function isSigned({ provider_metadata }: KeptReasoning): boolean {
  return Object.values(provider_metadata ?? {}).some((metadata) => {
    const { signature, redactedData, redactedContent } = Object(metadata)
    return [signature, redactedData, redactedContent].some((one) => one !== undefined)
  })
}

function usageOf({ usage }: Extract<ModelStreamPart, { type: 'finish' }>): TokenUsage {
  const { inputTokens: input, outputTokens: output } = usage ?? {}
  const cachedInputTokens = count(input?.cacheRead)
  const cacheWriteTokens = count(input?.cacheWrite)
  return {
    inputTokens: count(input?.total),
    outputTokens: count(output?.total),
    ...(cachedInputTokens ? { cachedInputTokens } : {}),
    ...(cacheWriteTokens ? { cacheWriteTokens } : {}),
  }
}

function count(tokens: unknown): number | null {
  return typeof tokens === 'number' && Number.isFinite(tokens) ? tokens : null
}

/** In version 3 of the interface, `data` is the bytes. In version 4, it is an object around them. */
function fileOf({ data, mediaType }: Extract<ModelStreamPart, { type: 'file' }>): ModelFile[] {
  const body = typeof data === 'object' && 'type' in data ? data : { type: 'data' as const, data }
  return body.type === 'data' ? [{ mediaType, data: body.data }] : []
}

function providerCall({
  toolCallId: id,
  toolName: name,
  input,
  providerMetadata,
}: Extract<ModelStreamPart, { type: 'tool-call' }>): ProviderCallPart {
  const value = parseArguments(input).arguments as JsonObject
  return defined({ type: 'provider_call', id, name, value, provider_metadata: providerMetadata })
}

function providerResult({
  toolCallId: id,
  toolName: name,
  result,
  isError,
  providerMetadata: provider_metadata,
}: Extract<ModelStreamPart, { type: 'tool-result' }>): ProviderCallPart {
  const value = (result ?? null) as JsonValue
  const is_error = isError ? true : undefined
  return defined({ type: 'provider_result', id, name, value, is_error, provider_metadata })
}

const LIMIT_REACHED =
  'Your answer reached the limit of output tokens before the arguments were complete. Write less in one answer, or split the work into several calls, one per answer.'

function parseArguments(raw: unknown): Pick<ModelCall, 'arguments' | 'problem'> {
  // Some servers send the object itself, or an empty text for no arguments.
  const input = typeof raw === 'string' ? raw : (JSON.stringify(raw) ?? '')
  if (input.trim() === '') return { arguments: {} }
  try {
    const value: unknown = JSON.parse(input)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return { arguments: value as Record<string, unknown> }
    }
  } catch {
    // Reported below, with the text.
  }
  const problem = `The arguments are not a JSON object: ${shortened(input, 200)}`
  return { arguments: {}, problem }
}
