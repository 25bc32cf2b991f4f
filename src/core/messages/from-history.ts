import { ByrefError } from '../errors.ts'
import { isPlainObject } from '../json/json.ts'
import { newId } from '../new-id.ts'
import { partType } from './canonical-part.ts'
import type { KeptReasoning, ToolResultMark } from './message.ts'
import type { AnnouncedCall } from './read-metadata.ts'
import type { ContentInput, MessageInput } from './to-message.ts'

type Fields = Record<string, unknown>

/**
 * Converts a message of a history that another library has kept, if it has calls or results: a `ModelMessage` of the AI
 * SDK, or a message of OpenAI's chat completions. Returns the message with `tool_calls` in its metadata, and then one
 * message for each result. Any other message is returned unchanged.
 *
 * @throws ByrefError `invalid_message` for a call or a result without an id
 */
export function fromHistory(input: MessageInput): MessageInput[] {
  const { tool_calls, tool_call_id, ...message } = Object(input) as Fields & ContentInput
  const { role, content } = message
  if (role === 'tool' && tool_call_id !== undefined) {
    return [resultMessage(message, { callId: tool_call_id, value: content })]
  }
  const parts = Array.isArray(content) ? content.filter(isPlainObject) : []
  const isHistory = tool_calls !== undefined || parts.some((part) => KEPT.has(partType(part)))
  if (!isHistory || (role !== 'assistant' && role !== 'tool')) return [input]
  const ofType = (type: string): Fields[] => parts.filter((part) => partType(part) === type)
  const calls = [...ofType('tool-call').map(callOf), ...chatCalls(tool_calls)]
  const results = ofType('tool-result').map((part) =>
    resultMessage({ role: 'tool' }, resultOf(part)),
  )
  const reasoning = ofType('reasoning').map(reasoningOf)
  const others = Array.isArray(content)
    ? content.filter((part) => !KEPT.has(partType(Object(part))))
    : []
  if (role === 'tool' && others.length === 0) return results
  const metadata: Fields = { ...message.metadata }
  if (calls.length > 0) metadata.tool_calls = calls
  if (reasoning.length > 0) metadata.reasoning = reasoning
  const text = typeof content === 'string' ? content : ''
  const shown = others.length > 0 ? others : text
  return [{ ...message, content: shown, metadata }, ...results]
}

/** The types of parts that become metadata or messages of their own. Questions to a person were for the other library. */
const KEPT: ReadonlySet<string> = new Set([
  'reasoning',
  'tool-call',
  'tool-result',
  'tool-approval-request',
  'tool-approval-response',
])

function callOf({ toolCallId, toolName, input, args, providerOptions }: Fields): AnnouncedCall {
  const call = { id: idOf(toolCallId), name: String(toolName), arguments: Object(input ?? args) }
  return isPlainObject(providerOptions) ? { ...call, provider_metadata: providerOptions } : call
}

/** The arguments stay text, which readers of metadata parse. */
function chatCalls(calls: unknown): AnnouncedCall[] {
  return (Array.isArray(calls) ? calls : []).map((call) => {
    const { name, arguments: args } = Object(Object(call).function)
    return { id: idOf(Object(call).id), name: String(name), arguments: args }
  })
}

function reasoningOf({ text, providerOptions }: Fields): KeptReasoning {
  const kept = { text: String(text ?? '') }
  return isPlainObject(providerOptions) ? { ...kept, provider_metadata: providerOptions } : kept
}

interface KeptResult {
  callId: unknown
  name?: string
  value: unknown
  error?: ToolResultMark['error']
}

function resultOf({ toolCallId: callId, toolName, output, result }: Fields): KeptResult {
  const { type = 'json', value = result, reason } = Object(output)
  const named = { callId, name: String(toolName) }
  const text = (given: unknown): string =>
    typeof given === 'string' ? given : JSON.stringify(given)
  if (type === 'execution-denied') {
    const message = reason === undefined ? 'A person denied the call' : text(reason)
    return { ...named, value: null, error: { code: 'approval_denied', message } }
  }
  if (type !== 'error-text' && type !== 'error-json') return { ...named, value }
  return { ...named, value: null, error: { code: 'tool_failed', message: text(value) } }
}

function resultMessage(
  message: Omit<ContentInput, 'content'>,
  { callId, name, value, error }: KeptResult,
): MessageInput {
  const tool_result: ToolResultMark = { tool_call_id: idOf(callId), ...(error && { error }) }
  return {
    id: newId(),
    message_type: 'note',
    ...message,
    ...(name === undefined ? {} : { name }),
    content: value ?? null,
    content_type: typeof value === 'string' ? 'text/plain' : 'application/json',
    metadata: { ...message.metadata, tool_result },
  }
}

function idOf(id: unknown): string {
  if (typeof id === 'string' && id !== '') return id
  throw new ByrefError('invalid_message', 'A call or a result in a message has no id')
}
