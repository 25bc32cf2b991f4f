import type { CallError, ConversationEvent } from '../../content/events.ts'
import type { Message, ToolCall } from '../../content/message.ts'
import { readMetadata } from '../../content/read-metadata.ts'
import { textOf } from '../../content/render-context.ts'

/** What an agent says and does, as all protocols tell it. */
export type AnswerPiece =
  | { type: 'text-start'; id: string }
  | { type: 'text-delta'; id: string; delta: string }
  /** With all of the text; `isCut`: nothing more comes, and nobody knows what would have. */
  | { type: 'text-end'; id: string; text: string; isCut: boolean }
  | { type: 'call-start'; id: string; name: string; messageId: string }
  | { type: 'call-delta'; id: string; delta: string }
  /** `rest`: the arguments as JSON, where they did not stream; else empty. */
  | { type: 'call-end'; id: string; call: ToolCall; rest: string }
  /** A call whose arguments broke off. */
  | { type: 'call-cut'; id: string }
  | { type: 'result'; id: string; message: Message; error: CallError | null }
  /** A whole answer of a model, behind its text. */
  | { type: 'answer'; message: Message }
  /** Anything else that happens. */
  | { type: 'event'; event: ConversationEvent }

/** The pieces of a conversation from some point on. */
export interface AnswerPieces {
  take(event: ConversationEvent): AnswerPiece[]
  /** Ends what is still being written. */
  finish(): AnswerPiece[]
}

/**
 * Makes pieces of events: each text and each call begins once, goes on, and ends, whether it streamed, is read from the log,
 * or was in the middle when somebody began to follow.
 */
export function createAnswerPieces(): AnswerPieces {
  /** What is being written, as far as it has come. */
  const texts = new Map<string, string>()
  const spoken = new Set<string>()
  const calls = new Set<string>()

  function endText(id: string, rest: string, isCut: boolean): AnswerPiece[] {
    const text = `${texts.get(id) ?? ''}${rest}`
    texts.delete(id)
    spoken.add(id)
    const end = { type: 'text-end', id, text, isCut } as const
    return rest === '' ? [end] : [{ type: 'text-delta', id, delta: rest }, end]
  }

  /** What of a whole text was not told. */
  function restOf(id: string, text: string): AnswerPiece[] {
    if (spoken.has(id)) return []
    const soFar = texts.get(id)
    if (soFar === undefined && text === '') return []
    if (soFar === undefined) return [{ type: 'text-start', id }, ...endText(id, text, false)]
    return endText(id, text.startsWith(soFar) ? text.slice(soFar.length) : '', false)
  }

  function keep(event: Extract<ConversationEvent, { type: 'NEW_MESSAGE' }>): AnswerPiece[] {
    const { payload: message } = event
    const { id, sender, content_type: type } = message
    const { result } = readMetadata(message)
    if (result) return [{ type: 'result', id: result.callId, message, error: result.error }]
    if (sender.participant_role !== 'assistant' || type === 'data')
      return [{ type: 'event', event }]
    return [...restOf(id, textOf(message)), { type: 'answer', message }]
  }

  return {
    take(event) {
      switch (event.type) {
        case 'TEXT_MESSAGE_START': {
          const { messageId: id } = event
          if (spoken.has(id) || texts.has(id)) return []
          texts.set(id, '')
          return [{ type: 'text-start', id }]
        }
        case 'TEXT_MESSAGE_CONTENT': {
          const { messageId: id, delta } = event
          const soFar = texts.get(id)
          if (soFar === undefined || delta === '') return []
          texts.set(id, soFar + delta)
          return [{ type: 'text-delta', id, delta }]
        }
        case 'TEXT_MESSAGE_END':
          // A model may speak on behind a call: its text ends with the answer.
          return []
        case 'TOOL_CALL_START': {
          const { toolCallId: id, toolCallName: name, parentMessageId: messageId } = event
          if (calls.has(id)) return []
          calls.add(id)
          return [{ type: 'call-start', id, name, messageId }]
        }
        case 'TOOL_CALL_ARGS': {
          const { toolCallId: id, delta } = event
          return calls.has(id) && delta !== '' ? [{ type: 'call-delta', id, delta }] : []
        }
        case 'TOOL_CALL_END': {
          const { toolCallId: id, call, parentMessageId: messageId } = event
          if (calls.delete(id)) return [{ type: 'call-end', id, call, rest: '' }]
          const start = { type: 'call-start', id, name: call.name, messageId } as const
          return [start, { type: 'call-end', id, call, rest: JSON.stringify(call.arguments) }]
        }
        case 'TOOL_CALL_RESULT':
          // The message that is kept says it, in other processes too.
          return []
        case 'NEW_MESSAGE':
          return keep(event)
        default:
          return [{ type: 'event', event }]
      }
    },
    finish() {
      const cut = [...calls].map((id): AnswerPiece => ({ type: 'call-cut', id }))
      calls.clear()
      return [...[...texts.keys()].flatMap((id) => endText(id, '', true)), ...cut]
    },
  }
}
