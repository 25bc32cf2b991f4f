import type { FinishReason as UIFinishReason, UIMessageChunk } from 'ai'
import type { Agent } from '../../../agent/agent-contract.ts'
import { isAnsweredOutside } from '../../../boundary/tool.ts'
import { createBoard } from '../../../core/board/board.ts'
import type {
  AssetCreated,
  ConversationEvent,
  FinishReason,
  LogRecord,
} from '../../../core/events/events.ts'
import { isData } from '../../../core/messages/data-block.ts'
import type { DataBlock, Message } from '../../../core/messages/message.ts'
import { readMetadata } from '../../../core/messages/read-metadata.ts'
import { renderEmbeddedRefs } from '../../../core/refs/render-embedded-refs.ts'
import { formatVariable } from '../../../core/refs/variable-ref.ts'
import { type AnswerPiece, createAnswerPieces } from '../../serving/answer-pieces.ts'

/** What one run is to `useChat`: one message of the assistant, whatever steps it takes. */
export interface UIChunks {
  /** The chunks of an event, in the order of the conversation: of runs before it too, for the data that they wrote. */
  take(event: ConversationEvent): UIMessageChunk[]
  /** The run's id, which is the message's; empty before it begins. */
  readonly runId: string
  readonly isOver: boolean
}

/** Options of {@link createUIChunks}. */
export interface UIChunkOptions {
  /**
   * Where the app serves an asset to browsers. The references in the text of answers become links to it, or images.
   * Default: its reference, which browsers cannot open, and text as the model wrote it.
   */
  assetUrl?(ref: string): string
}

/** The assets of the conversation so far, for the chunks of several runs. */
interface KnownAssets {
  assets?: Map<string, AssetCreated>
}

/** Whether a run is the one that is meant. */
export type IsRun = (started: RunStarted) => boolean

type RunStarted = Extract<ConversationEvent, { type: 'RUN_STARTED' }>

const REASONS: Partial<Record<FinishReason, UIFinishReason>> = {
  done: 'stop',
  length: 'length',
  content_filter: 'content-filter',
}

/** Makes the chunks of the run that is meant, as `useChat` takes them. */
export function createUIChunks(
  { tools }: Pick<Agent, 'tools'>,
  isRun: IsRun,
  options: UIChunkOptions & KnownAssets,
): UIChunks {
  const pieces = createAnswerPieces()
  const outside = new Set(tools.filter(isAnsweredOutside).map(({ id }) => id))
  /** The names of the calls that have no result yet. */
  const calls = new Map<string, string>()
  /** The calls that people were asked about. */
  const asked = new Set<string>()
  const boardChunks = createBoardChunks()
  const { assetUrl = (ref) => ref } = options
  const shown = createShownText(options)
  let runId = ''
  let isInStep = false
  let isOver = false

  function endStep(): UIMessageChunk[] {
    const end: UIMessageChunk[] = isInStep ? [{ type: 'finish-step' }] : []
    isInStep = false
    return end
  }

  function tell(piece: AnswerPiece): UIMessageChunk[] {
    switch (piece.type) {
      case 'text-start':
      case 'text-end':
        return [{ type: piece.type, id: piece.id }]
      case 'text-delta':
        return [{ type: piece.type, id: piece.id, delta: shown.text(piece) }]
      case 'call-start': {
        const { id: toolCallId, name: toolName } = piece
        calls.set(toolCallId, toolName)
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
      case 'call-cut':
        return []
      case 'result':
        return calls.delete(piece.id) ? [resultOf(piece)] : []
      case 'answer':
        return readMetadata(piece.message).attachments.map(({ assetRef, mimeType }) => {
          return { type: 'file', url: assetUrl(assetRef), mediaType: mimeType }
        })
      case 'event':
        return other(piece.event)
    }
  }

  function other(event: ConversationEvent): UIMessageChunk[] {
    switch (event.type) {
      case 'STEP_STARTED': {
        const before = endStep()
        isInStep = true
        return [...before, { type: 'start-step' }]
      }
      case 'ASSET_CREATED': {
        const { meta: _, ...asset } = event.payload
        const data = { ...asset, url: assetUrl(asset.ref) }
        return [{ type: 'data-asset', id: asset.assetId, data }]
      }
      case 'APPROVAL_REQUESTED': {
        const { toolCallId, arguments: args, items } = event
        if (outside.has(calls.get(toolCallId) ?? '')) return []
        asked.add(toolCallId)
        const approvalDescriptor = { arguments: args, ...(items ? { items } : {}) }
        const ids = { approvalId: toolCallId, toolCallId }
        return [{ type: 'tool-approval-request', ...ids, approvalDescriptor }]
      }
      case 'APPROVAL_ANSWERED': {
        const { toolCallId: approvalId, approved, reason } = event
        if (!asked.has(approvalId)) return []
        const why = reason === undefined ? {} : { reason }
        return [{ type: 'tool-approval-response', approvalId, approved, ...why }]
      }
      case 'TOOL_PROGRESS':
        return [{ type: 'data-progress', data: event.payload, transient: true }]
      case 'RUN_FINISHED':
        isOver = true
        return [...pieces.finish().flatMap(tell), ...endStep(), endOf(event.result)]
      case 'RUN_ERROR':
        isOver = true
        return [...pieces.finish().flatMap(tell), { type: 'error', errorText: event.message }]
      default:
        return []
    }
  }

  return {
    take(event) {
      if (event.type === 'ASSET_CREATED') shown.note(event.payload)
      if (event.type === 'RUN_STARTED' && runId === '' && isRun(event)) {
        runId = event.runId
        return [{ type: 'start', messageId: runId }]
      }
      const isOfRun = runId !== '' && !isOver
      if (event.type !== 'NEW_MESSAGE') return isOfRun ? pieces.take(event).flatMap(tell) : []
      if (event.deliver) return []
      // Of messages before the run, what they wrote among the data is kept.
      const data = isData(event.payload) ? boardChunks(event.payload) : null
      return isOfRun ? (data ?? pieces.take(event).flatMap(tell)) : []
    },
    get runId() {
      return runId
    },
    get isOver() {
      return isOver
    },
  }
}

/** The text of answers with links in place of its embedded references, where the app serves assets. */
function createShownText({ assetUrl, assets = new Map() }: UIChunkOptions & KnownAssets) {
  const texts = new Map<string, string>()
  return {
    note(asset: AssetCreated): void {
      assets.set(asset.ref, asset)
    },
    /** A delta as it is shown: what came before it says whether it is code, or within a link. */
    text({ id, delta }: Extract<AnswerPiece, { type: 'text-delta' }>): string {
      if (!assetUrl) return delta
      const before = texts.get(id) ?? ''
      const text = before + delta
      texts.set(id, text)
      if (!delta.includes('<|')) return delta
      const asset = (ref: string) => assets.get(ref)
      return renderEmbeddedRefs(text, assetUrl, { asset, from: before.length })
    },
  }
}

function resultOf({
  id,
  message,
  error,
}: Extract<AnswerPiece, { type: 'result' }>): UIMessageChunk {
  const { content: output } = message
  if (!error) return { type: 'tool-output-available', toolCallId: id, output }
  if (error.code === 'approval_denied') return { type: 'tool-output-denied', toolCallId: id }
  const errorText = `${error.code}: ${error.message}`
  return { type: 'tool-output-error', toolCallId: id, errorText }
}

type RunEnd = Extract<ConversationEvent, { type: 'RUN_FINISHED' }>['result']

function endOf({ reason, usage }: RunEnd): UIMessageChunk {
  if (reason === 'cancelled') return { type: 'abort', reason }
  const finishReason = REASONS[reason] ?? 'other'
  return { type: 'finish', finishReason, messageMetadata: { usage, reason } }
}

/** The value that a data message wrote to, as it then is: a later part of its id takes its place. */
function createBoardChunks(): (message: Message) => UIMessageChunk[] {
  const board = createBoard([])
  return (message) => {
    try {
      board.append(message)
    } catch {
      // What another program wrote may break its schema: it is not on the board.
      return []
    }
    const { kind = 'data', _instance: instance } = message.content as DataBlock
    const id = formatVariable({ kind, instance }, [])
    if (!board.has(id)) return []
    const data = { kind, ...(instance === undefined ? {} : { instance }), value: board.read(id) }
    return [{ type: 'data-board', id, data }]
  }
}

/**
 * What the log has, with each answer where it began: there its calls stand before it, since they are kept while it is
 * still written.
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
