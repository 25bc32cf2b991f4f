import { textOf } from '../../core/board/render-context.ts'
import type { ConversationState } from '../../core/events/conversation-state.ts'
import type { ConversationEvent, TokenUsage } from '../../core/events/events.ts'
import type { ToolCall } from '../../core/messages/message.ts'
import { type AnswerPiece, createAnswerPieces } from '../serving/answer-pieces.ts'

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

type Result = Extract<AnswerPiece, { type: 'result' }>

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
  const pieces = createAnswerPieces()

  const find = (id: string): Item | undefined => items.find((item) => item.id === id)
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

  /** A text that is being written. */
  function textEvents(piece: Extract<AnswerPiece, { type: `text-${string}` }>): StreamEvent[] {
    const id = `msg_${piece.id}`
    if (piece.type === 'text-start') {
      const item: Item = { ...headOf('message', id), role: 'assistant', content: [] }
      const part = { content_index: 0, part: textPart('') }
      return [add(item), { type: 'response.content_part.added', ...at(item), ...part }]
    }
    const item = find(id) as Item
    const part = { ...at(item), content_index: 0 }
    if (piece.type === 'text-delta') {
      return [{ type: 'response.output_text.delta', ...part, delta: piece.delta, logprobs: [] }]
    }
    const { text, isCut } = piece
    const status = isCut ? 'incomplete' : 'completed'
    return [
      { type: 'response.output_text.done', ...part, text, logprobs: [] },
      { type: 'response.content_part.done', ...part, part: textPart(text) },
      done(item, { status, content: [textPart(text)] }),
    ]
  }

  /** A call of one of the client's tools; those of others are told when they begin. */
  function callEvents(piece: Extract<AnswerPiece, { type: `call-${string}` }>): StreamEvent[] {
    const id = `fc_${piece.id}`
    if (piece.type === 'call-start') {
      const { id: call_id, name } = piece
      if (!isClientTool(name)) return []
      return [add({ ...headOf('function_call', id), call_id, name, arguments: '' })]
    }
    const item = find(id)
    if (!item || piece.type === 'call-cut') return []
    const type = 'response.function_call_arguments'
    if (piece.type === 'call-delta')
      return [{ type: `${type}.delta`, ...at(item), delta: piece.delta }]
    const { name } = piece.call
    const args = JSON.stringify(piece.call.arguments)
    return [
      { type: `${type}.done`, ...at(item), name, arguments: args },
      done(item, { status: 'completed', arguments: args }),
    ]
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

  function endOwn({ id, message, error: failed }: Result): StreamEvent[] {
    const began = beginOwn(id)
    const item = find(`mcp_${id}`)
    if (!item) return began
    const status = failed ? 'failed' : 'completed'
    const output = failed ? null : textOf(message)
    const error = failed?.message ?? null
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

  function tell(piece: AnswerPiece): StreamEvent[] {
    switch (piece.type) {
      case 'text-start':
      case 'text-delta':
      case 'text-end':
        return textEvents(piece)
      case 'call-start':
      case 'call-delta':
      case 'call-end':
      case 'call-cut':
        return callEvents(piece)
      case 'result':
        return endOwn(piece)
      case 'answer':
        return []
      case 'event':
        return other(piece.event)
    }
  }

  function other(event: ConversationEvent): StreamEvent[] {
    if (event.type === 'TOOL_STARTED') return beginOwn(event.toolCallId)
    if (event.type === 'APPROVAL_REQUESTED')
      return ask(event.toolCallId, event.items ?? event.arguments)
    if (event.type === 'STEP_FINISHED') addUsage(usage, event.usage)
    return []
  }

  return {
    items,
    usage,
    take: (event) => pieces.take(event).flatMap(tell),
    finish: () => pieces.finish().flatMap(tell),
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
