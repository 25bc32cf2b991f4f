import { ByrefError } from '../errors.ts'
import { isPlainObject, type JsonValue } from '../json/json.ts'
import { newId } from '../new-id.ts'
import { partType } from './canonical-part.ts'
import type { KeptReasoning, ToolResultMark } from './message.ts'
import type { AnnouncedCall, AnswerPart, ProviderCallPart } from './read-metadata.ts'
import type { ContentInput, MessageInput } from './to-message.ts'

type Fields = Record<string, unknown>

/**
 * Converts the messages of a history that another library has kept, if they have calls or results: `ModelMessage`s of
 * the AI SDK, or messages of OpenAI's chat completions. A message with calls gets them as metadata. Each result becomes a
 * message. Calls get new ids, because some servers use an id for several calls. All other messages are returned unchanged.
 *
 * @throws ByrefError `invalid_message` for a call without an id or a name, and for a result without its call
 */
export function fromHistory(inputs: readonly MessageInput[]): MessageInput[] {
  const calls = new KnownCalls()
  return inputs.flatMap((input) => {
    const { role, content, tool_calls, tool_call_id, ...rest } = Object(input) as Fields
    if (role === 'tool' && tool_call_id !== undefined) {
      return [resultMessage({ role, ...rest }, calls.of(tool_call_id), { value: content })]
    }
    const parts = Array.isArray(content) ? content : []
    const isKept = tool_calls !== undefined || parts.some((part) => KEPT.has(typeOf(part)))
    if (role === 'tool' && isKept) return resultsIn(parts, { role, ...rest }, calls)
    if (role !== 'assistant' || !isKept) return [input]
    const answer = new Answer(calls)
    for (const part of parts) answer.add(Object(part))
    for (const call of Array.isArray(tool_calls) ? tool_calls : []) answer.addChatCall(Object(call))
    return answer.messages({ role, ...rest }, content)
  })
}

/**
 * The types of parts that become metadata or messages of their own. Approval requests and answers are dropped: the other
 * library has handled them.
 */
const KEPT: ReadonlySet<string> = new Set([
  'reasoning',
  'tool-call',
  'tool-result',
  'tool-approval-request',
  'tool-approval-response',
])

const typeOf = (part: unknown): string => partType(Object(part))

/** The calls of a history by their ids there. */
class KnownCalls {
  readonly #ids = new Map<unknown, string>()

  /** Returns the new id of a call. Results that follow belong to it. */
  add(id: unknown): string {
    if (typeof id !== 'string' || id === '') throw invalid('A call in a message has no id')
    const own = `call_${newId()}`
    this.#ids.set(id, own)
    return own
  }

  of(id: unknown): string {
    const own = this.#ids.get(id)
    if (own !== undefined) return own
    throw invalid(
      `There is no call "${id}" before its result: send the call first, in the same list`,
    )
  }
}

/** The message of an answer, in the making. */
class Answer {
  readonly #known: KnownCalls
  readonly #calls: AnnouncedCall[] = []
  readonly #reasoning: KeptReasoning[] = []
  /** The order of the parts. */
  readonly #order: AnswerPart[] = []
  readonly #others: unknown[] = []
  readonly #results: MessageInput[] = []
  /** The calls that the provider executed. */
  readonly #provided = new Set<unknown>()
  #text = ''

  constructor(known: KnownCalls) {
    this.#known = known
  }

  add(part: Fields): void {
    const { toolCallId, toolName, input, args, text, providerOptions } = part
    const metadata = isPlainObject(providerOptions) ? { provider_metadata: providerOptions } : {}
    switch (typeOf(part)) {
      case 'reasoning':
        this.#reasoning.push({ text: String(text ?? ''), ...metadata })
        this.#order.push({ type: 'reasoning' })
        break
      case 'tool-call': {
        const value = (input ?? args ?? {}) as JsonValue
        if (part.providerExecuted !== true) {
          this.#addCall({ id: toolCallId, name: toolName, arguments: value }, metadata)
          break
        }
        this.#provided.add(toolCallId)
        this.#order.push({ ...providerPart('provider_call', part, value), ...metadata })
        break
      }
      case 'tool-result': {
        if (!this.#provided.has(toolCallId)) {
          this.#results.push(...resultsIn([part], { role: 'tool' }, this.#known))
          break
        }
        const { value, error } = outcomeOf(part)
        const result = providerPart('provider_result', part, (error ?? value) as JsonValue)
        this.#order.push({ ...result, ...(error && { is_error: true }), ...metadata })
        break
      }
      default:
        if (!KEPT.has(typeOf(part))) this.#addOther(part, metadata)
    }
  }

  addChatCall({ id, function: called }: Fields): void {
    const { name, arguments: args } = Object(called)
    this.#addCall({ id, name, arguments: args })
  }

  /** @param given The content of the message in the history. */
  messages(message: Fields, given: unknown): MessageInput[] {
    const metadata: Fields = { ...Object(message.metadata) }
    if (this.#calls.length > 0) metadata.tool_calls = this.#calls
    if (this.#reasoning.length > 0) metadata.reasoning = this.#reasoning
    // The order counts the characters of a text, so it is left out if there are files.
    const isText = this.#others.every((part) => typeOf(part) === 'text')
    if (Array.isArray(given) && isText) metadata.answer_parts = this.#order
    const content = Array.isArray(given) ? (isText ? this.#text : this.#others) : (given ?? '')
    return [{ ...message, content, metadata } as MessageInput, ...this.#results]
  }

  #addCall({ id, name, arguments: args }: Fields, metadata: object = {}): void {
    if (typeof name !== 'string') throw invalid('A call in a message has no name of a tool')
    // Readers of metadata parse arguments that are text.
    const call = { id: this.#known.add(id), name, arguments: args, ...metadata }
    this.#calls.push(call as AnnouncedCall)
    this.#order.push({ type: 'call' })
  }

  #addOther(part: Fields, metadata: object): void {
    this.#others.push(part)
    if (typeof part.text !== 'string' || part.text === '') return
    const text = this.#text === '' ? part.text : `\n\n${part.text}`
    this.#text += text
    this.#order.push({ type: 'text', length: text.length, ...metadata })
  }
}

function providerPart(
  type: ProviderCallPart['type'],
  { toolCallId, toolName }: Fields,
  value: JsonValue,
): ProviderCallPart {
  return { type, id: String(toolCallId), name: String(toolName), value }
}

interface Outcome {
  value: unknown
  error?: ToolResultMark['error']
}

/** Returns the outcome in a `tool-result` part. In versions of the AI SDK before 5, it is `result` and `isError`. */
function outcomeOf({ output, result, isError }: Fields): Outcome {
  const { type = isError === true ? 'error-json' : 'json', value = result, reason } = Object(output)
  const text = (given: unknown): string =>
    typeof given === 'string' ? given : JSON.stringify(given ?? null)
  if (type === 'execution-denied') {
    const message = reason === undefined ? 'A person denied the call' : text(reason)
    return { value: null, error: { code: 'approval_denied', message } }
  }
  if (type !== 'error-text' && type !== 'error-json') return { value }
  return { value: null, error: { code: 'tool_failed', message: text(value) } }
}

/** Returns a message for each result. The first one has the id of the message in the history. */
function resultsIn(parts: readonly unknown[], message: Fields, calls: KnownCalls): MessageInput[] {
  const { id, ...rest } = message
  const results: Fields[] = parts.filter((part) => typeOf(part) === 'tool-result').map(Object)
  return results.map((part, index) => {
    const own = index === 0 ? message : rest
    return resultMessage(
      { ...own, name: part.toolName },
      calls.of(part.toolCallId),
      outcomeOf(part),
    )
  })
}

function resultMessage(message: Fields, callId: string, { value, error }: Outcome): MessageInput {
  const tool_result: ToolResultMark = { tool_call_id: callId, ...(error && { error }) }
  return {
    message_type: 'note',
    ...message,
    content: value ?? null,
    content_type: typeof value === 'string' ? 'text/plain' : 'application/json',
    metadata: { ...Object(message.metadata), tool_result },
  } as ContentInput
}

function invalid(message: string): ByrefError {
  return new ByrefError('invalid_message', message)
}
