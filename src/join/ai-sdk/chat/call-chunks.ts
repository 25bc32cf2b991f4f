import type { UIMessageChunk } from 'ai'
import { isAnsweredOutside, type Tool } from '../../../agent/tools/tool.ts'
import type { ConversationEvent } from '../../../content/events.ts'
import type { Message } from '../../../content/message.ts'
import { readMetadata } from '../../../content/read-metadata.ts'

/** The calls of one run. */
export interface CallChunks {
  take(event: ConversationEvent): UIMessageChunk[]
  /** What a call came to; null for a message that is no result. */
  result(message: Message): UIMessageChunk[] | null
}

/**
 * Begins with no calls.
 *
 * @param tools Those of the agent: calls of those that run in the browser are no questions to people.
 */
export function createCallChunks(tools: readonly Tool[]): CallChunks {
  const calls = new Map<string, 'streaming' | 'complete'>()
  const outside = new Set(tools.filter(isAnsweredOutside).map(({ id }) => id))
  /** The calls that people were asked about. */
  const asked = new Set<string>()
  const names = new Map<string, string>()

  function take(event: ConversationEvent): UIMessageChunk[] {
    switch (event.type) {
      case 'TOOL_CALL_START': {
        const { toolCallId, toolCallName: toolName } = event
        if (calls.has(toolCallId)) return []
        calls.set(toolCallId, 'streaming')
        return [{ type: 'tool-input-start', toolCallId, toolName }]
      }
      case 'TOOL_CALL_ARGS': {
        const { toolCallId, delta: inputTextDelta } = event
        if (calls.get(toolCallId) !== 'streaming') return []
        return [{ type: 'tool-input-delta', toolCallId, inputTextDelta }]
      }
      case 'TOOL_CALL_END': {
        const { toolCallId, call } = event
        calls.set(toolCallId, 'complete')
        const { name: toolName, arguments: input } = call
        names.set(toolCallId, toolName)
        return [{ type: 'tool-input-available', toolCallId, toolName, input }]
      }
      case 'APPROVAL_REQUESTED': {
        const { toolCallId, arguments: args, items } = event
        if (outside.has(names.get(toolCallId) ?? '')) return []
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
      default:
        return []
    }
  }

  return {
    take,
    result(message) {
      const { result } = readMetadata(message)
      if (!result) return null
      const { callId: toolCallId, error } = result
      if (!calls.delete(toolCallId)) return []
      if (!error) return [{ type: 'tool-output-available', toolCallId, output: message.content }]
      if (error.code === 'approval_denied') return [{ type: 'tool-output-denied', toolCallId }]
      const errorText = `${error.code}: ${error.message}`
      return [{ type: 'tool-output-error', toolCallId, errorText }]
    },
  }
}
