import type { FinishReason as UIFinishReason, UIMessageChunk } from 'ai'
import { createBoard } from '../../../core/board/board.ts'
import { defined } from '../../../core/defined.ts'
import type {
  AssetCreated,
  ConversationEvent,
  EventOf,
  FinishReason,
  LogRecord,
} from '../../../core/events/events.ts'
import { isData } from '../../../core/messages/data-block.ts'
import type { DataBlock, Message } from '../../../core/messages/message.ts'
import { type AnswerSource, readMetadata } from '../../../core/messages/read-metadata.ts'
import { callIdOf } from '../../../core/refs/item-call.ts'
import { renderEmbeddedRefs } from '../../../core/refs/render-embedded-refs.ts'
import { formatVariable } from '../../../core/refs/variable-ref.ts'
import { tryOnBoard } from '../../../engine/session-values.ts'
import { type AnswerPiece, AnswerPieces } from '../../serving/answer-pieces.ts'

/** Options of {@link RunChunks}. */
export interface UIChunkOptions {
  /**
   * Returns the URL at which the app serves an asset. References in the text of answers become links or images.
   * Default: the reference itself, which browsers cannot open, and unchanged text.
   */
  assetUrl?(ref: string): string
}

/** Whether this is the run to convert. */
export type IsRun = (started: EventOf<'RUN_STARTED'>) => boolean

const REASONS: Partial<Record<FinishReason, UIFinishReason>> = {
  done: 'stop',
  length: 'length',
  content_filter: 'content-filter',
}

/** Converts the events of one run to the chunks of `useChat`. A run is one message of the assistant. */
export class RunChunks {
  /** The id of the run, which is the id of the message; empty before the run begins. */
  runId = ''
  isOver = false
  readonly #isRun: IsRun
  readonly #options: UIChunkOptions
  readonly #assets: Map<string, AssetCreated>
  /** The texts so far, if the app serves assets. */
  readonly #texts = new Map<string, string>()
  readonly #pieces = new AnswerPieces()
  /** The calls that have no result yet. */
  readonly #calls = new Set<string>()
  /** The calls that people were asked about. */
  readonly #asked = new Set<string>()
  /** The calls of sub-agents that people were asked about, with the answers. */
  readonly #subCalls = new Map<string, { caller: string; approved: boolean | null }>()
  readonly #board = createBoard([])
  #isInStep = false
  /** Whether the last step has calls. */
  #hasCalls = false

  /** @param assets The assets of the conversation so far. Several runs may share them. */
  constructor(isRun: IsRun, options: UIChunkOptions, assets = new Map<string, AssetCreated>()) {
    this.#isRun = isRun
    this.#options = options
    this.#assets = assets
  }

  /** Returns the chunks of the next event. Give it all events of the conversation: earlier data messages count. */
  take(event: ConversationEvent): UIMessageChunk[] {
    if (event.type === 'ASSET_CREATED') this.#assets.set(event.payload.ref, event.payload)
    if (event.type === 'RUN_STARTED' && this.runId === '' && this.#isRun(event)) {
      this.runId = event.runId
      return [{ type: 'start', messageId: this.runId }]
    }
    const isOfRun = this.runId !== '' && !this.isOver
    if (event.type !== 'NEW_MESSAGE') return isOfRun ? this.#chunksOf(event) : []
    if (event.deliver) return []
    // Data messages from before the run count: they are on the board.
    const data = isData(event.payload) ? this.#ofData(event.payload) : null
    return isOfRun ? (data ?? this.#chunksOf(event)) : []
  }

  /** Returns the value that a data message changed. A later chunk with the same id replaces it. */
  #ofData(message: Message): UIMessageChunk[] {
    const board = this.#board
    if (!tryOnBoard(board, message)) return []
    const { kind = 'data', _instance: instance } = message.content as DataBlock
    const id = formatVariable({ kind, instance }, [])
    if (!board.has(id)) return []
    return [{ type: 'data-board', id, data: defined({ kind, instance, value: board.read(id) }) }]
  }

  #chunksOf(event: ConversationEvent): UIMessageChunk[] {
    return this.#pieces.take(event).flatMap((piece) => this.#ofPiece(piece))
  }

  #ofPiece(piece: AnswerPiece): UIMessageChunk[] {
    switch (piece.type) {
      case 'text-start':
      case 'text-end':
      case 'reasoning-start':
      case 'reasoning-end':
        return [{ type: piece.type, id: piece.id }]
      case 'text-delta':
        return [{ type: piece.type, id: piece.id, delta: this.#textOf(piece) }]
      case 'reasoning-delta':
        return [{ type: piece.type, id: piece.id, delta: piece.delta }]
      case 'call-start': {
        const { id: toolCallId, name: toolName } = piece
        this.#calls.add(toolCallId)
        this.#hasCalls = true
        return [{ type: 'tool-input-start', toolCallId, toolName }]
      }
      case 'call-delta': {
        const { id: toolCallId, delta: inputTextDelta } = piece
        return [{ type: 'tool-input-delta', toolCallId, inputTextDelta }]
      }
      case 'call-end': {
        const { id: toolCallId, call } = piece
        const { name: toolName, arguments: input } = call
        return [{ type: 'tool-input-available', toolCallId, toolName, input }]
      }
      case 'call-cut': {
        const { id: toolCallId, name: toolName } = piece
        this.#calls.delete(toolCallId)
        const errorText = 'interrupted: The answer ended before this call was complete'
        return [{ type: 'tool-input-error', toolCallId, toolName, input: {}, errorText }]
      }
      case 'result':
        return this.#calls.delete(piece.id) ? [...this.#endSubCalls(piece.id), resultOf(piece)] : []
      case 'answer': {
        const { attachments, answerSources } = readMetadata(piece.message)
        const files = attachments.map(({ assetRef, mimeType }): UIMessageChunk => {
          return { type: 'file', url: this.#assetUrl(assetRef), mediaType: mimeType }
        })
        return [...files, ...answerSources.map(sourceOf)]
      }
      case 'event':
        return this.#ofEvent(piece.event)
    }
  }

  #assetUrl(ref: string): string {
    return this.#options.assetUrl?.(ref) ?? ref
  }

  /**
   * Returns a delta as it is shown. Where the app serves assets, embedded references become links. The text before it
   * decides whether it is in code or in a link.
   */
  #textOf({ id, delta }: Extract<AnswerPiece, { type: 'text-delta' }>): string {
    const { assetUrl } = this.#options
    if (!assetUrl) return delta
    const before = this.#texts.get(id) ?? ''
    const text = before + delta
    this.#texts.set(id, text)
    if (!delta.includes('<|')) return delta
    const asset = (ref: string) => this.#assets.get(ref)
    return renderEmbeddedRefs(text, assetUrl, { asset, from: before.length })
  }

  #ofEvent(event: ConversationEvent): UIMessageChunk[] {
    switch (event.type) {
      case 'STEP_STARTED': {
        const before = this.#endStep()
        this.#isInStep = true
        this.#hasCalls = false
        return [...before, { type: 'start-step' }]
      }
      case 'ASSET_CREATED': {
        const { meta: _, ...asset } = event.payload
        const data = { ...asset, url: this.#assetUrl(asset.ref) }
        return [{ type: 'data-asset', id: asset.assetId, data }]
      }
      case 'APPROVAL_REQUESTED': {
        const { toolCallId, parentToolCallId, arguments: args } = event
        const { needsResult, items, previews, violations, reason } = event
        const isOfSubAgent = parentToolCallId !== undefined
        // The page runs a tool without `execute`, and nobody approves it.
        if (!isOfSubAgent && needsResult) return []
        const call = isOfSubAgent ? this.#ofSubCall(event, parentToolCallId) : []
        this.#asked.add(toolCallId)
        const approvalDescriptor = defined({ arguments: args, items, previews, violations, reason })
        const ids = { approvalId: toolCallId, toolCallId }
        return [...call, { type: 'tool-approval-request', ...ids, approvalDescriptor }]
      }
      case 'APPROVAL_ANSWERED': {
        const { toolCallId: approvalId, approved, reason } = event
        if (!this.#asked.has(approvalId)) return []
        const subCall = this.#subCalls.get(approvalId)
        if (subCall) subCall.approved = approved
        return [defined({ type: 'tool-approval-response', approvalId, approved, reason })]
      }
      case 'TOOL_PROGRESS':
        return [{ type: 'data-progress', data: event.payload, transient: true }]
      case 'RUN_FINISHED':
        return [...this.#end(), ...endOf(event.result)]
      case 'RUN_ERROR':
        return [
          ...this.#end(),
          metadataOf({ reason: 'failed', error: event.message }),
          { type: 'error', errorText: event.message },
        ]
      default:
        return []
    }
  }

  /** Shows a call of a sub-agent next to the call that the sub-agent works for. */
  #ofSubCall(
    { toolCallId, toolName, arguments: input }: EventOf<'APPROVAL_REQUESTED'>,
    parentToolCallId: string,
  ): UIMessageChunk[] {
    const caller = this.#calls.has(parentToolCallId) ? parentToolCallId : callIdOf(parentToolCallId)
    this.#subCalls.set(toolCallId, { caller, approved: null })
    const call: UIMessageChunk = { type: 'tool-input-available', toolCallId, toolName, input }
    if (this.#asked.has(caller)) return [call]
    this.#asked.add(caller)
    // Pages send answers when each call of the step has a result or an answer. The caller's has none yet.
    const ids = { approvalId: caller, toolCallId: caller }
    return [
      { type: 'tool-approval-request', ...ids, isAutomatic: true },
      { type: 'tool-approval-response', approvalId: caller, approved: true },
      call,
    ]
  }

  /** Ends the calls of a sub-agent that has ended. Their results are in its own conversation. */
  #endSubCalls(ended: string): UIMessageChunk[] {
    return [...this.#subCalls].flatMap(([toolCallId, { caller, approved }]): UIMessageChunk[] => {
      if (caller !== ended) return []
      this.#subCalls.delete(toolCallId)
      if (approved) return [{ type: 'tool-output-available', toolCallId, output: null }]
      if (approved === false) return [{ type: 'tool-output-denied', toolCallId }]
      const errorText = 'interrupted: The sub-agent ended before an answer'
      return [{ type: 'tool-output-error', toolCallId, errorText }]
    })
  }

  /** Ends everything that is open. */
  #end(): UIMessageChunk[] {
    this.isOver = true
    const cut = this.#pieces.finish().flatMap((piece) => this.#ofPiece(piece))
    const errorText = 'interrupted: The run ended before this call had a result'
    const open = [...this.#calls].flatMap((toolCallId): UIMessageChunk[] => {
      return [
        ...this.#endSubCalls(toolCallId),
        { type: 'tool-output-error', toolCallId, errorText },
      ]
    })
    // If every call of the last step has a result, pages send it. An empty step prevents that.
    const step: UIMessageChunk[] = [{ type: 'start-step' }, { type: 'finish-step' }]
    return [...cut, ...open, ...this.#endStep(), ...(this.#hasCalls ? step : [])]
  }

  #endStep(): UIMessageChunk[] {
    const end: UIMessageChunk[] = this.#isInStep ? [{ type: 'finish-step' }] : []
    this.#isInStep = false
    return end
  }
}

function sourceOf({ url, title, mimeType, fileName }: AnswerSource): UIMessageChunk {
  if (url !== undefined) return defined({ type: 'source-url', sourceId: url, url, title })
  const name = title ?? fileName ?? ''
  const mediaType = mimeType ?? 'application/octet-stream'
  return defined({
    type: 'source-document',
    sourceId: fileName ?? name,
    title: name,
    mediaType,
    filename: fileName,
  })
}

type Result = Extract<AnswerPiece, { type: 'result' }>

function resultOf({ id, message, error }: Result): UIMessageChunk {
  const { content: output } = message
  if (!error) return { type: 'tool-output-available', toolCallId: id, output }
  if (error.code === 'approval_denied') return { type: 'tool-output-denied', toolCallId: id }
  const errorText = `${error.code}: ${error.message}`
  return { type: 'tool-output-error', toolCallId: id, errorText }
}

function endOf({ reason, usage }: EventOf<'RUN_FINISHED'>['result']): UIMessageChunk[] {
  if (reason === 'cancelled') return [metadataOf({ usage, reason }), { type: 'abort', reason }]
  const finishReason = REASONS[reason] ?? 'other'
  return [{ type: 'finish', finishReason, messageMetadata: { usage, reason } }]
}

function metadataOf(messageMetadata: object): UIMessageChunk {
  return { type: 'message-metadata', messageMetadata }
}

/**
 * Returns the events with each answer right after the start of its step. In the log, the calls come first, because
 * they are stored while the answer still streams.
 */
export function answersFirst(records: readonly LogRecord[]): ConversationEvent[] {
  const answers = new Map<string, ConversationEvent>()
  for (const { event } of records) {
    if (event.type === 'NEW_MESSAGE') answers.set(event.payload.id, event)
  }
  const placed = new Set<ConversationEvent>()
  return records.flatMap(({ event }) => {
    if (placed.has(event)) return []
    const answer = event.type === 'STEP_STARTED' ? answers.get(event.messageId) : undefined
    if (answer) placed.add(answer)
    return answer ? [event, answer] : event
  })
}
