import type { BaseEvent, Interrupt, RunFinishedOutcome } from '@ag-ui/core'
import { defined } from '../../core/defined.ts'
import type { AskedCall, RunState } from '../../core/events/conversation-state.ts'
import type { ConversationEvent, TokenUsage } from '../../core/events/events.ts'
import { callIdOf } from '../../core/refs/item-call.ts'
import { type AnswerPiece, AnswerPieces } from '../serving/answer-pieces.ts'
import { toolContent } from './ag-ui-messages.ts'

/** An AG-UI event. */
export type AgUiEvent = Omit<BaseEvent, 'type'> & { type: string; [key: string]: unknown }

/** The ids of what the client itself sent. */
export interface KnownToClient {
  messages: ReadonlySet<string>
  /** Calls whose results the client sent. */
  results: ReadonlySet<string>
}

/** Translates a conversation's events to AG-UI. Events that AG-UI does not have become `CUSTOM`. */
export function createAgUiEvents(known: KnownToClient) {
  const pieces = new AnswerPieces()
  let step: string | null = null

  function endStep(): AgUiEvent[] {
    const stepName = step
    step = null
    return stepName === null ? [] : [{ type: 'STEP_FINISHED', stepName }]
  }

  function convert(piece: AnswerPiece): AgUiEvent[] {
    switch (piece.type) {
      case 'text-start':
        return [{ type: 'TEXT_MESSAGE_START', messageId: piece.messageId, role: 'assistant' }]
      case 'text-delta':
        return [{ type: 'TEXT_MESSAGE_CONTENT', messageId: piece.messageId, delta: piece.delta }]
      case 'text-end':
        return [{ type: 'TEXT_MESSAGE_END', messageId: piece.messageId }]
      case 'reasoning-start': {
        const { id: messageId } = piece
        const start = { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' }
        return [{ type: 'REASONING_START', messageId }, start]
      }
      case 'reasoning-delta':
        return [{ type: 'REASONING_MESSAGE_CONTENT', messageId: piece.id, delta: piece.delta }]
      case 'reasoning-end':
        return ['REASONING_MESSAGE_END', 'REASONING_END'].map((type) => {
          return { type, messageId: piece.id }
        })
      case 'call-start': {
        const { id: toolCallId, name: toolCallName, messageId: parentMessageId } = piece
        return [{ type: 'TOOL_CALL_START', toolCallId, toolCallName, parentMessageId }]
      }
      case 'call-delta':
        return [{ type: 'TOOL_CALL_ARGS', toolCallId: piece.id, delta: piece.delta }]
      case 'call-end':
      case 'call-cut': {
        const { id: toolCallId } = piece
        const end = { type: 'TOOL_CALL_END', toolCallId }
        if (piece.type === 'call-cut' || piece.rest === '') return [end]
        return [{ type: 'TOOL_CALL_ARGS', toolCallId, delta: piece.rest }, end]
      }
      case 'result': {
        const { id: toolCallId, message, error } = piece
        if (known.results.has(toolCallId)) return []
        const content = toolContent(message, error)
        const ids = { messageId: message.id, toolCallId }
        return [{ type: 'TOOL_CALL_RESULT', ...ids, role: 'tool', content }]
      }
      case 'answer':
        return []
      case 'event':
        return other(piece.event)
    }
  }

  function other(event: ConversationEvent): AgUiEvent[] {
    switch (event.type) {
      case 'RUN_STARTED':
      case 'RUN_FINISHED':
      case 'RUN_ERROR':
        return []
      case 'STEP_STARTED': {
        // A step that a crash interrupted has no end event.
        const before = endStep()
        step = event.stepName
        return [...before, { type: 'STEP_STARTED', stepName: step }]
      }
      case 'STEP_FINISHED':
        return endStep()
      default: {
        const { type: name, ...rest } = event
        return [{ type: 'CUSTOM', name, value: 'payload' in rest ? rest.payload : rest }]
      }
    }
  }

  return {
    take(event: ConversationEvent): AgUiEvent[] {
      const isKnown = event.type === 'NEW_MESSAGE' && known.messages.has(event.payload.id)
      return isKnown ? [] : pieces.take(event).flatMap(convert)
    },
    /** Ends everything that is still open. */
    finish: (): AgUiEvent[] => [...pieces.finish().flatMap(convert), ...endStep()],
  }
}

/** Returns how a run ended, or what it waits for: approvals are interrupts, calls of frontend tools are not. */
export function outcomeOf(run: RunState, waiting: readonly AskedCall[]): RunFinishedOutcome {
  if (run.reason === 'cancelled') return { type: 'cancelled' }
  const isAsked = ({ approval, parentToolCallId }: AskedCall): boolean =>
    parentToolCallId !== undefined || !approval.needsResult
  const asked = waiting.filter(isAsked)
  if (asked.length > 0) return { type: 'interrupt', interrupts: asked.map(toInterrupt) }
  return waiting.length === 0
    ? { type: 'success' }
    : { type: 'success', pendingToolCallIds: waiting.map(({ id }) => id) }
}

/** Returns an outcome as clients before AG-UI 1.0 accept it. They reject pending calls, and know no `cancelled`. */
export function legacyOutcome(outcome: RunFinishedOutcome): RunFinishedOutcome | undefined {
  if (outcome.type === 'cancelled') return undefined
  return outcome.type === 'success' ? { type: 'success' } : outcome
}

function toInterrupt({ id, name, approval, parentToolCallId }: AskedCall): Interrupt {
  const { items, previews, violations, reason } = approval
  return {
    id,
    reason: 'tool_call',
    // Clients do not see the calls of sub-agents, only those that the sub-agents work for.
    toolCallId: parentToolCallId === undefined ? id : callIdOf(parentToolCallId),
    message: `May "${name}" run?`,
    responseSchema: {
      type: 'object',
      properties: {
        approved: { type: 'boolean' },
        reason: { type: 'string' },
        arguments: {
          type: items ? 'array' : 'object',
          description: 'What runs instead of what was shown',
        },
      },
      required: ['approved'],
    },
    metadata: defined({ arguments: items ?? approval.arguments, previews, violations, reason }),
  }
}

/** Token usage in AG-UI's form; undefined if the provider reported none. */
export function usageOf({ inputTokens, outputTokens, ...usage }: TokenUsage, model?: string) {
  if (inputTokens === null || outputTokens === null) return undefined
  const { cachedInputTokens, cacheWriteTokens: cacheWriteInputTokens } = usage
  const totalTokens = inputTokens + outputTokens
  const tokens = { inputTokens, outputTokens, totalTokens }
  return [defined({ model, ...tokens, cachedInputTokens, cacheWriteInputTokens })]
}
