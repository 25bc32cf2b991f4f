import { textOf } from '../../core/board/render-context.ts'
import {
  type AskedCall,
  addUsage,
  type ConversationState,
  requestOf,
} from '../../core/events/conversation-state.ts'
import type { ConversationEvent, EventOf, TokenUsage } from '../../core/events/events.ts'
import type { ToolCall } from '../../core/messages/message.ts'
import { type AnswerSource, readMetadata } from '../../core/messages/read-metadata.ts'
import { type AnswerPiece, AnswerPieces } from '../serving/answer-pieces.ts'

type Fields = Record<string, unknown>

/** An item of `output` in the Responses API. */
export type Item = Fields & { type: string; id: string }

/** A server-sent event without its number. */
export type StreamEvent = Fields & { type: string }

type TextPiece<Type extends string> = Extract<AnswerPiece, { type: Type }>
type Result = Extract<AnswerPiece, { type: 'result' }>

/** The Responses API shows the agent's own tools as tools of an MCP server with this label. */
const SERVER = 'byref'

/** Finish reasons of answers that are not complete. */
const CUT: ReadonlySet<string> = new Set(['length', 'content-filter', 'error'])

/**
 * The items of one response. Texts become `message` items, calls of the client's tools `function_call`, calls of the agent's
 * own tools `mcp_call`, and approvals of these `mcp_approval_request`.
 */
export class ResponseOutput {
  readonly items: Item[] = []
  usage: TokenUsage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 }
  readonly #isClientTool: (name: string) => boolean
  readonly #state: Pick<ConversationState, 'calls'>
  readonly #pieces = new AnswerPieces()
  /** The last text, while its sources and the end of its answer may still follow. */
  #ended: { text: TextPiece<'text-end'>; sources: readonly AnswerSource[]; isCut: boolean } | null =
    null

  /** @param state The state of the conversation, with the events folded in. */
  constructor(isClientTool: (name: string) => boolean, state: Pick<ConversationState, 'calls'>) {
    this.#isClientTool = isClientTool
    this.#state = state
  }

  take(event: ConversationEvent): StreamEvent[] {
    return this.#pieces.take(event).flatMap((piece) => this.#take(piece))
  }

  /**
   * Ends everything that is still streaming.
   *
   * @param waiting The calls that wait. Earlier responses may have shown them, or a sub-agent may have asked about them
   *   since then.
   */
  finish(waiting: readonly AskedCall[] = []): StreamEvent[] {
    const pieces = this.#pieces.finish().flatMap((piece) => this.#take(piece))
    const ends = [...pieces, ...this.#endText()]
    const open = this.items.filter(({ status }) => status === 'in_progress')
    const asked = waiting.filter(({ id }) => !this.#find(id) && !this.#find(`fc_${id}`))
    if (waiting.length > 0) this.#markCommentary()
    return [
      ...ends,
      ...open.map((item) => this.#done(item, { status: 'incomplete' })),
      ...asked.flatMap((call) => this.#waitingEvents(call)),
    ]
  }

  #take(piece: AnswerPiece): StreamEvent[] {
    const ended = this.#ended
    if (ended && piece.type === 'answer') {
      const { answerSources, isIncomplete } = readMetadata(piece.message)
      ended.sources = answerSources
      ended.isCut ||= isIncomplete
      return []
    }
    if (ended && piece.type === 'event' && piece.event.type === 'STEP_FINISHED')
      ended.isCut ||= CUT.has(piece.event.finishReason)
    return [...this.#endText(), ...this.#eventsOf(piece)]
  }

  #eventsOf(piece: AnswerPiece): StreamEvent[] {
    switch (piece.type) {
      case 'text-start':
      case 'text-delta':
        return this.#textEvents(piece)
      case 'text-end':
        this.#ended = { text: piece, sources: [], isCut: piece.isCut }
        return []
      case 'call-start':
      case 'call-delta':
      case 'call-end':
      case 'call-cut':
        return this.#clientCallEvents(piece)
      case 'result':
        return this.#resultEvents(piece)
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
      case 'answer':
        return []
      case 'event':
        return this.#otherEvents(piece.event)
    }
  }

  #otherEvents(event: ConversationEvent): StreamEvent[] {
    if (event.type === 'TOOL_STARTED') return this.#beginOwnCall(event.toolCallId)
    if (event.type === 'APPROVAL_REQUESTED') {
      return [...this.#endClientCall(event.toolCallId, 'completed'), ...this.#approvalEvents(event)]
    }
    if (event.type === 'STEP_FINISHED') this.usage = addUsage(this.usage, event.usage)
    return []
  }

  #textEvents(piece: TextPiece<'text-start' | 'text-delta'>): StreamEvent[] {
    const id = `msg_${piece.id}`
    if (piece.type === 'text-start') {
      const item: Item = { ...newItem('message', id), role: 'assistant', content: [] }
      const part = { content_index: 0, part: textPart('') }
      return [this.#add(item), { type: 'response.content_part.added', ...this.#at(item), ...part }]
    }
    const item = this.#find(id) as Item
    const part = { ...this.#at(item), content_index: 0 }
    return [{ type: 'response.output_text.delta', ...part, delta: piece.delta, logprobs: [] }]
  }

  /** Ends the last text. */
  #endText(): StreamEvent[] {
    if (!this.#ended) return []
    const { text: piece, sources, isCut } = this.#ended
    this.#ended = null
    const { text } = piece
    const item = this.#find(`msg_${piece.id}`) as Item
    const part = { ...this.#at(item), content_index: 0 }
    const status = isCut ? 'incomplete' : 'completed'
    const annotations = sources.flatMap((source) => citations(source, text))
    const whole = textPart(text, annotations)
    const type = 'response.output_text.annotation.added'
    return [
      ...annotations.map((annotation, annotation_index) => {
        return { type, ...part, annotation_index, annotation }
      }),
      { type: 'response.output_text.done', ...part, text, logprobs: [] },
      { type: 'response.content_part.done', ...part, part: whole },
      this.#done(item, { status, content: [whole] }),
    ]
  }

  /** Returns a call of one of the client's tools. Calls of the agent's tools are shown when they start. */
  #clientCallEvents(piece: Extract<AnswerPiece, { type: `call-${string}` }>): StreamEvent[] {
    const id = `fc_${piece.id}`
    if (piece.type === 'call-start') {
      const { id: call_id, name } = piece
      if (!this.#isClientTool(name)) return []
      return [this.#add({ ...newItem('function_call', id), call_id, name, arguments: '' })]
    }
    const item = this.#find(id)
    if (!item) return []
    if (piece.type === 'call-cut') return [this.#done(item, { status: 'incomplete' })]
    const type = 'response.function_call_arguments'
    if (piece.type === 'call-delta') {
      item.arguments += piece.delta
      return [{ type: `${type}.delta`, ...this.#at(item), delta: piece.delta }]
    }
    const { name } = piece.call
    item.arguments = JSON.stringify(piece.call.arguments)
    return [{ type: `${type}.done`, ...this.#at(item), name, arguments: item.arguments }]
  }

  /** Ends a call of a client's tool: it waits for the client, or is `incomplete` because its arguments were rejected. */
  #endClientCall(id: string, status: 'completed' | 'incomplete'): StreamEvent[] {
    const item = this.#find(`fc_${id}`)
    return item?.status === 'in_progress' ? [this.#done(item, { status })] : []
  }

  /** Returns a call of one of the agent's own tools, or null. */
  #ownCall(id: string): ToolCall | null {
    const { call, approval } = this.#state.calls[id] ?? {}
    // A later request may not repeat the client's tools.
    const isClients = call && (approval?.needsResult || this.#isClientTool(call.name))
    return call && !isClients ? call : null
  }

  #beginOwnCall(id: string): StreamEvent[] {
    const call = this.#ownCall(id)
    if (!call || this.#find(`mcp_${id}`)) return []
    const args = JSON.stringify(call.arguments)
    const item: Item = {
      ...newItem('mcp_call', `mcp_${id}`),
      server_label: SERVER,
      name: call.name,
      arguments: args,
      output: null,
      error: null,
    }
    return [
      this.#add(item),
      { type: 'response.mcp_call.in_progress', ...this.#at(item) },
      { type: 'response.mcp_call_arguments.done', ...this.#at(item), arguments: args },
    ]
  }

  #resultEvents({ id, message, error: failed }: Result): StreamEvent[] {
    const began = [...this.#endClientCall(id, 'incomplete'), ...this.#beginOwnCall(id)]
    const item = this.#find(`mcp_${id}`)
    if (!item) return began
    const status = failed ? 'failed' : 'completed'
    const output = failed ? null : textOf(message)
    const error = failed?.message ?? null
    return [
      ...began,
      { type: `response.mcp_call.${status}`, ...this.#at(item) },
      this.#done(item, { status, output, error }),
    ]
  }

  /** Returns a call that waits, and that this response has not shown yet. */
  #waitingEvents(call: AskedCall): StreamEvent[] {
    const { id, name, approval, parentToolCallId } = call
    if (!approval.needsResult || parentToolCallId !== undefined)
      return this.#approvalEvents(requestOf(call, ''))
    const args = JSON.stringify(approval.arguments)
    const item = { ...newItem('function_call', `fc_${id}`), call_id: id, name, arguments: args }
    const added = this.#add(item)
    const type = 'response.function_call_arguments.done'
    const done = { type, ...this.#at(item), name, arguments: args }
    return [added, done, this.#done(item, { status: 'completed' })]
  }

  #approvalEvents(request: EventOf<'APPROVAL_REQUESTED'>): StreamEvent[] {
    const { toolCallId: id, toolName: name, parentToolCallId } = request
    if (parentToolCallId === undefined && !this.#ownCall(id)) return []
    const args = JSON.stringify(request.items ?? request.arguments)
    const type = 'mcp_approval_request'
    const item = { type, id, server_label: SERVER, name, arguments: args }
    return [this.#add(item), this.#done(item)]
  }

  #find(id: string): Item | undefined {
    return this.items.find((item) => item.id === id)
  }

  #at(item: Item): Fields {
    return { output_index: this.items.indexOf(item), item_id: item.id }
  }

  /** Marks the texts so far. More follows, so none is the final answer, and clients do not parse them as JSON. */
  #markCommentary(): void {
    for (const item of this.items) if (item.type === 'message') item.phase = 'commentary'
  }

  #add(item: Item): StreamEvent {
    this.#markCommentary()
    const index = this.items.push(item) - 1
    return { type: 'response.output_item.added', output_index: index, item: { ...item } }
  }

  #done(item: Item, changes: Fields = {}): StreamEvent {
    Object.assign(item, changes)
    const index = this.items.indexOf(item)
    return { type: 'response.output_item.done', output_index: index, item: { ...item } }
  }
}

function newItem(type: string, id: string): Item {
  return { type, id, status: 'in_progress' }
}

function textPart(text: string, annotations: readonly Fields[] = []): Fields {
  return { type: 'output_text', text, annotations, logprobs: [] }
}

/** Returns a web page as a source of the whole text. Leaves out documents, because the API names these by file ids. */
function citations({ url, title = url }: AnswerSource, { length }: string): Fields[] {
  if (url === undefined) return []
  return [{ type: 'url_citation', url, title, start_index: 0, end_index: length }]
}
