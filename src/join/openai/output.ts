import type { ConversationState } from '../../content/conversation-state.ts'
import type { ConversationEvent, TokenUsage } from '../../content/events.ts'
import type { Message, ToolCall } from '../../content/message.ts'
import { readMetadata } from '../../content/read-metadata.ts'
import { textOf } from '../../content/render-context.ts'

type Fields = Record<string, unknown>

/** An item of `output` as the Responses API has it. */
export type Item = Fields & { type: string; id: string }

/** A server-sent event without its number. */
export type StreamEvent = Fields & { type: string }

/** The items of one response, made of what happens in its conversation. */
export interface Output {
  readonly items: readonly Item[]
  readonly usage: TokenUsage
  take(event: ConversationEvent): StreamEvent[]
  /** Ends what is still being written, as it is then. */
  finish(): StreamEvent[]
}

/** What this side's own tools are called by, as tools of a server are. */
const SERVER = 'byref'

/**
 * Texts become `message` items, calls of the client's tools `function_call`, those of the agent's own tools `mcp_call`, and
 * questions about them `mcp_approval_request`.
 *
 * @param state That of the conversation, with the events folded in.
 */
export function createOutput(
  isClientTool: (name: string) => boolean,
  state: Pick<ConversationState, 'calls'>,
): Output {
  const items: Item[] = []
  const usage: TokenUsage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 }
  const texts = new Map<string, string>()
  const functions = new Map<string, Item>()

  const at = (item: Item): Fields => ({ output_index: items.indexOf(item), item_id: item.id })

  function add(item: Item): StreamEvent {
    items.push(item)
    return { type: 'response.output_item.added', output_index: items.length - 1, item: { ...item } }
  }

  function done(item: Item, more: Fields = {}): StreamEvent {
    Object.assign(item, more)
    const index = items.indexOf(item)
    return { type: 'response.output_item.done', output_index: index, item: { ...item } }
  }

  function find(id: string): Item | undefined {
    return items.find((item) => item.id === id)
  }

  function beginText(id: string): StreamEvent[] {
    texts.set(id, '')
    const item: Item = { ...headOf('message', `msg_${id}`), role: 'assistant', content: [] }
    const part = { content_index: 0, part: textPart('') }
    return [add(item), { type: 'response.content_part.added', ...at(item), ...part }]
  }

  function writeText(id: string, delta: string): StreamEvent[] {
    const item = find(`msg_${id}`)
    if (!item || !texts.has(id) || delta === '') return []
    texts.set(id, texts.get(id) + delta)
    const more = { content_index: 0, delta, logprobs: [] }
    return [{ type: 'response.output_text.delta', ...at(item), ...more }]
  }

  function endText(id: string, status = 'completed'): StreamEvent[] {
    const item = find(`msg_${id}`)
    const text = texts.get(id)
    texts.delete(id)
    if (!item || text === undefined) return []
    const part = { ...at(item), content_index: 0 }
    return [
      { type: 'response.output_text.done', ...part, text, logprobs: [] },
      { type: 'response.content_part.done', ...part, part: textPart(text) },
      done(item, { status, content: [textPart(text)] }),
    ]
  }

  function beginFunction(id: string, name: string): StreamEvent[] {
    const item: Item = { ...headOf('function_call', `fc_${id}`), call_id: id, name, arguments: '' }
    functions.set(id, item)
    return [add(item)]
  }

  function endFunction({ id, name, arguments: args }: ToolCall): StreamEvent[] {
    const began = functions.has(id) ? [] : beginFunction(id, name)
    const item = functions.get(id) as Item
    functions.delete(id)
    const whole = JSON.stringify(args)
    const type = 'response.function_call_arguments.done'
    const said = { type, ...at(item), name, arguments: whole }
    return [...began, said, done(item, { status: 'completed', arguments: whole })]
  }

  /** A call of the agent's own tools. */
  function own(id: string): ToolCall | null {
    const { call } = state.calls[id] ?? {}
    return call && !isClientTool(call.name) ? call : null
  }

  function beginOwn(id: string): StreamEvent[] {
    const call = own(id)
    if (!call || find(`mcp_${id}`)) return []
    const args = JSON.stringify(call.arguments)
    const item: Item = {
      ...headOf('mcp_call', `mcp_${id}`),
      ...{ server_label: SERVER, name: call.name, arguments: args, output: null, error: null },
    }
    return [
      add(item),
      { type: 'response.mcp_call.in_progress', ...at(item) },
      { type: 'response.mcp_call_arguments.done', ...at(item), arguments: args },
    ]
  }

  function endOwn(message: Message): StreamEvent[] {
    const { result } = readMetadata(message)
    if (!result || !own(result.callId)) return []
    const began = beginOwn(result.callId)
    const item = find(`mcp_${result.callId}`)
    if (!item) return began
    const error = result.error?.message ?? null
    const status = error === null ? 'completed' : 'failed'
    const output = error === null ? textOf(message) : null
    return [
      ...began,
      { type: `response.mcp_call.${status}`, ...at(item) },
      done(item, { status, output, error }),
    ]
  }

  function ask(id: string, args: unknown): StreamEvent[] {
    const name = own(id)?.name
    if (name === undefined) return []
    const item: Item = {
      ...{ type: 'mcp_approval_request', id, server_label: SERVER, name },
      arguments: JSON.stringify(args),
    }
    return [add(item), done(item)]
  }

  function said(message: Message): StreamEvent[] {
    const { id, sender, content_type: type } = message
    if (readMetadata(message).result) return endOwn(message)
    const text = textOf(message)
    const isAnswer = sender.participant_role === 'assistant' && type !== 'data' && text !== ''
    if (!isAnswer || find(`msg_${id}`)) return []
    return [...beginText(id), ...writeText(id, text), ...endText(id)]
  }

  return {
    items,
    usage,
    take(event) {
      switch (event.type) {
        case 'STEP_FINISHED':
          addUsage(usage, event.usage)
          return []
        case 'TEXT_MESSAGE_START':
          return beginText(event.messageId)
        case 'TEXT_MESSAGE_CONTENT':
          return writeText(event.messageId, event.delta)
        case 'TEXT_MESSAGE_END':
          return endText(event.messageId)
        case 'TOOL_CALL_START':
          return isClientTool(event.toolCallName)
            ? beginFunction(event.toolCallId, event.toolCallName)
            : []
        case 'TOOL_CALL_ARGS': {
          const item = functions.get(event.toolCallId)
          const type = 'response.function_call_arguments.delta'
          return item && event.delta !== '' ? [{ type, ...at(item), delta: event.delta }] : []
        }
        case 'TOOL_CALL_END':
          return isClientTool(event.call.name) ? endFunction(event.call) : []
        case 'TOOL_STARTED':
          return beginOwn(event.toolCallId)
        case 'APPROVAL_REQUESTED':
          return ask(event.toolCallId, event.items ?? event.arguments)
        case 'NEW_MESSAGE':
          return said(event.payload)
        default:
          return []
      }
    },
    finish: () => [...texts.keys()].flatMap((id) => endText(id, 'incomplete')),
  }
}

function headOf(type: string, id: string): Item {
  return { type, id, status: 'in_progress' }
}

function textPart(text: string): Fields {
  return { type: 'output_text', text, annotations: [], logprobs: [] }
}

function addUsage(sum: TokenUsage, { inputTokens, outputTokens, ...rest }: TokenUsage): void {
  sum.inputTokens = (sum.inputTokens ?? 0) + (inputTokens ?? 0)
  sum.outputTokens = (sum.outputTokens ?? 0) + (outputTokens ?? 0)
  sum.cachedInputTokens = (sum.cachedInputTokens ?? 0) + (rest.cachedInputTokens ?? 0)
}
