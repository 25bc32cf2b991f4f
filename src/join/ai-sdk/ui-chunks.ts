import type { FinishReason as UIFinishReason, UIMessageChunk } from 'ai'
import { createBoard } from '../../content/board.ts'
import { isData } from '../../content/data-block.ts'
import type { ConversationEvent, FinishReason, LogRecord } from '../../content/events.ts'
import type { DataBlock, Message } from '../../content/message.ts'
import { readMetadata } from '../../content/read-metadata.ts'
import { formatVariable } from '../../refs/variable-ref.ts'

/** What one run is to `useChat`: one message of the assistant, whatever steps it takes. */
export interface UIChunks {
  /** The chunks of an event, in the order of the conversation: of runs before it too, for the data that they wrote. */
  take(event: ConversationEvent): UIMessageChunk[]
  /** Says that a person's answer is in the log. */
  answered(toolCallId: string): void
  /** The run's id, which is the message's; empty before it begins. */
  readonly runId: string
  /** Nothing goes on but that people are asked. */
  readonly isPaused: boolean
  readonly isOver: boolean
}

/** Options of {@link createUIChunks}. */
export interface UIChunkOptions {
  /** Where the app serves an asset to browsers. Default: its reference, which browsers cannot open. */
  assetUrl?(ref: string): string
}

type RunStarted = Extract<ConversationEvent, { type: 'RUN_STARTED' }>

const REASONS: Partial<Record<FinishReason, UIFinishReason>> = {
  done: 'stop',
  length: 'length',
  content_filter: 'content-filter',
}

/** Makes the chunks of the run that is meant, as `useChat` takes them. */
export function createUIChunks(
  isRun: (started: RunStarted) => boolean,
  { assetUrl = (ref) => ref }: UIChunkOptions,
): UIChunks {
  const board = createBoard([])
  /** What was told of the texts that are being written. */
  const texts = new Map<string, string>()
  const told = new Set<string>()
  const calls = new Map<string, 'planned' | 'running' | 'waiting'>()
  const streaming = new Set<string>()
  let runId = ''
  let isInStep = false
  let isAnswering = false
  let isOver = false

  function endStep(): UIMessageChunk[] {
    const end: UIMessageChunk[] = isInStep ? [{ type: 'finish-step' }] : []
    isInStep = false
    return end
  }

  function takeText(id: string, text: string): UIMessageChunk[] {
    if (told.has(id)) return []
    told.add(id)
    const soFar = texts.get(id)
    const rest = text.startsWith(soFar ?? '') ? text.slice(soFar?.length) : ''
    if (soFar === undefined && rest === '') return []
    return [
      ...(soFar === undefined ? [{ type: 'text-start', id } as const] : []),
      ...(rest === '' ? [] : [{ type: 'text-delta', id, delta: rest } as const]),
      { type: 'text-end', id },
    ]
  }

  function takeMessage(message: Message): UIMessageChunk[] {
    if (isData(message)) return takeData(message)
    const { result, attachments } = readMetadata(message)
    if (result) {
      const { callId: toolCallId, error } = result
      if (!calls.delete(toolCallId)) return []
      if (error?.code === 'approval_denied') return [{ type: 'tool-output-denied', toolCallId }]
      const errorText = `${error?.code}: ${error?.message}`
      return error
        ? [{ type: 'tool-output-error', toolCallId, errorText }]
        : [{ type: 'tool-output-available', toolCallId, output: message.content }]
    }
    if (message.sender.participant_role !== 'assistant') return []
    const { content } = message
    const text = typeof content === 'string' ? content : JSON.stringify(content ?? '')
    const files = attachments.map(({ assetRef, mimeType }) => {
      return { type: 'file', url: assetUrl(assetRef), mediaType: mimeType } as const
    })
    return [...takeText(message.id, content ? text : ''), ...files]
  }

  /** The value as it now is: a later part of this id takes its place. */
  function takeData(message: Message): UIMessageChunk[] {
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

  function takeOfRun(event: ConversationEvent): UIMessageChunk[] {
    switch (event.type) {
      case 'STEP_STARTED': {
        const before = endStep()
        isInStep = true
        isAnswering = true
        return [...before, { type: 'start-step' }]
      }
      case 'STEP_FINISHED':
        isAnswering = false
        return []
      case 'TEXT_MESSAGE_START':
        texts.set(event.messageId, '')
        return [{ type: 'text-start', id: event.messageId }]
      case 'TEXT_MESSAGE_CONTENT': {
        const { messageId: id, delta } = event
        const soFar = texts.get(id)
        // Who came in the middle gets the whole text at its end.
        if (soFar === undefined || told.has(id)) return []
        texts.set(id, soFar + delta)
        return [{ type: 'text-delta', id, delta }]
      }
      case 'TOOL_CALL_START': {
        const { toolCallId, toolCallName: toolName } = event
        if (calls.has(toolCallId)) return []
        streaming.add(toolCallId)
        return [{ type: 'tool-input-start', toolCallId, toolName }]
      }
      case 'TOOL_CALL_ARGS': {
        const { toolCallId, delta: inputTextDelta } = event
        const isKnown = streaming.has(toolCallId)
        return isKnown ? [{ type: 'tool-input-delta', toolCallId, inputTextDelta }] : []
      }
      case 'TOOL_CALL_END': {
        const { toolCallId, call } = event
        streaming.delete(toolCallId)
        calls.set(toolCallId, 'planned')
        const { name: toolName, arguments: input } = call
        return [{ type: 'tool-input-available', toolCallId, toolName, input }]
      }
      case 'TOOL_STARTED':
        calls.set(event.toolCallId, 'running')
        return []
      case 'APPROVAL_REQUESTED': {
        const { toolCallId, arguments: args, items } = event
        calls.set(toolCallId, 'waiting')
        const approvalDescriptor = { arguments: args, ...(items ? { items } : {}) }
        return [
          { type: 'tool-approval-request', approvalId: toolCallId, toolCallId, approvalDescriptor },
        ]
      }
      case 'APPROVAL_ANSWERED': {
        const { toolCallId: approvalId, approved, reason } = event
        calls.set(approvalId, 'running')
        const why = reason === undefined ? {} : { reason }
        return [{ type: 'tool-approval-response', approvalId, approved, ...why }]
      }
      case 'TOOL_PROGRESS':
        return [{ type: 'data-progress', data: event.payload, transient: true }]
      case 'ASSET_CREATED': {
        const { meta: _, ...asset } = event.payload
        const data = { ...asset, url: assetUrl(asset.ref) }
        return [{ type: 'data-asset', id: asset.assetId, data }]
      }
      default:
        return []
    }
  }

  function take(event: ConversationEvent): UIMessageChunk[] {
    if (event.type === 'RUN_STARTED' && runId === '' && isRun(event)) {
      runId = event.runId
      return [{ type: 'start', messageId: runId }]
    }
    const isOfRun = runId !== '' && !isOver
    if (event.type === 'NEW_MESSAGE') {
      if (event.deliver || (!isOfRun && !isData(event.payload))) return []
      const chunks = takeMessage(event.payload)
      return isOfRun ? chunks : []
    }
    if (!isOfRun) return []
    if (event.type === 'RUN_FINISHED' && event.runId === runId) {
      isOver = true
      const { reason, usage } = event.result
      const end: UIMessageChunk =
        reason === 'cancelled'
          ? { type: 'abort', reason }
          : {
              type: 'finish',
              finishReason: REASONS[reason] ?? 'other',
              messageMetadata: { usage, reason },
            }
      return [...endStep(), end]
    }
    if (event.type === 'RUN_ERROR' && event.runId === runId) {
      isOver = true
      return [{ type: 'error', errorText: event.message }]
    }
    return takeOfRun(event)
  }

  return {
    take,
    answered: (toolCallId) => void (calls.has(toolCallId) && calls.set(toolCallId, 'running')),
    get runId() {
      return runId
    },
    get isPaused() {
      const states = [...calls.values()]
      return !isAnswering && states.includes('waiting') && !states.includes('running')
    },
    get isOver() {
      return isOver
    },
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
