import { textOf } from '../../core/board/render-context.ts'
import type { CallError, ConversationEvent } from '../../core/events/events.ts'
import type { Message, ToolCall } from '../../core/messages/message.ts'
import { readMetadata } from '../../core/messages/read-metadata.ts'

/** A piece of what an agent says and does, independent of the protocol. */
export type AnswerPiece =
  /** If a message continues after a call, each part is a text of its own. */
  | { type: 'text-start'; id: string; messageId: string }
  | { type: 'text-delta'; id: string; messageId: string; delta: string }
  /** Has the whole text. `isCut`: the text was cut off and will not continue. */
  | { type: 'text-end'; id: string; messageId: string; text: string; isCut: boolean }
  /** A part of the model's reasoning, while it streams. */
  | { type: 'reasoning-start' | 'reasoning-end'; id: string }
  | { type: 'reasoning-delta'; id: string; delta: string }
  | { type: 'call-start'; id: string; name: string; messageId: string }
  | { type: 'call-delta'; id: string; delta: string }
  /** `rest`: the arguments as JSON if they did not stream, otherwise empty. */
  | { type: 'call-end'; id: string; call: ToolCall; rest: string }
  /** A call whose arguments were cut off. */
  | { type: 'call-cut'; id: string }
  | { type: 'result'; id: string; message: Message; error: CallError | null }
  /** A complete answer of a model. Comes after its text. */
  | { type: 'answer'; message: Message }
  /** Any other event. */
  | { type: 'event'; event: ConversationEvent }

/** Turns the events of a conversation, from some point on, into pieces. */
export interface AnswerPieces {
  take(event: ConversationEvent): AnswerPiece[]
  /** Ends everything that is still being written. */
  finish(): AnswerPiece[]
}

/** How much of a message's text was passed on. */
interface Told {
  text: string
  /** The number of texts. A model may continue after a call, which starts another text. */
  parts: number
  writing: { id: string; text: string } | null
}

/**
 * Creates a converter from events to pieces. Each text and each call begins once, continues and ends. It does not
 * matter whether it streamed, is read from the log, or was in progress when the listener joined.
 */
export function createAnswerPieces(): AnswerPieces {
  const texts = new Map<string, Told>()
  const calls = new Set<string>()
  /** The part of the reasoning that is streaming, and the number of parts so far. */
  let reasoning: { id: string } | null = null
  let parts = 0
  /** The answers whose reasoning was streamed. */
  const reasoned = new Set<string>()

  function beginReasoning(messageId: string): AnswerPiece[] {
    const before = endReasoning()
    reasoned.add(messageId)
    reasoning = { id: `${messageId}-reasoning-${++parts}` }
    return [...before, { type: 'reasoning-start', id: reasoning.id }]
  }

  function continueReasoning(delta: string): AnswerPiece[] {
    return reasoning ? [{ type: 'reasoning-delta', id: reasoning.id, delta }] : []
  }

  /** Returns the reasoning of a whole answer, if it was not streamed. */
  function reasoningOf(message: Message): AnswerPiece[] {
    if (reasoned.has(message.id)) return endReasoning()
    return readMetadata(message).reasoning.flatMap(({ text }) =>
      text === ''
        ? []
        : [...beginReasoning(message.id), ...continueReasoning(text), ...endReasoning()],
    )
  }

  function endReasoning(): AnswerPiece[] {
    const end: AnswerPiece[] = reasoning ? [{ type: 'reasoning-end', id: reasoning.id }] : []
    reasoning = null
    return end
  }

  function begin(messageId: string): AnswerPiece[] {
    const told = texts.get(messageId) ?? { text: '', parts: 0, writing: null }
    if (told.writing) return []
    const id = told.parts++ === 0 ? messageId : `${messageId}-${told.parts}`
    texts.set(messageId, told)
    told.writing = { id, text: '' }
    return [{ type: 'text-start', id, messageId }]
  }

  function write(messageId: string, delta: string): AnswerPiece[] {
    if (delta === '') return []
    const began = begin(messageId)
    const told = texts.get(messageId) as Told & { writing: { id: string; text: string } }
    told.text += delta
    told.writing.text += delta
    return [...began, { type: 'text-delta', id: told.writing.id, messageId, delta }]
  }

  function end(messageId: string, isCut = false): AnswerPiece[] {
    const told = texts.get(messageId)
    if (!told?.writing) return []
    const { id, text } = told.writing
    told.writing = null
    return [{ type: 'text-end', id, messageId, text, isCut }]
  }

  /** Returns the pieces for the part of a whole text that was not passed on yet. */
  function restOf(messageId: string, text: string): AnswerPiece[] {
    const told = texts.get(messageId)?.text ?? ''
    const rest = text.startsWith(told) ? text.slice(told.length) : ''
    return [...write(messageId, rest), ...end(messageId)]
  }

  function keep(event: Extract<ConversationEvent, { type: 'NEW_MESSAGE' }>): AnswerPiece[] {
    const { payload: message } = event
    const { id, sender, content_type: type } = message
    const { result } = readMetadata(message)
    if (result) return [{ type: 'result', id: result.callId, message, error: result.error }]
    if (sender.participant_role !== 'assistant' || type === 'data')
      return [{ type: 'event', event }]
    return [...reasoningOf(message), ...restOf(id, textOf(message)), { type: 'answer', message }]
  }

  return {
    take(event) {
      switch (event.type) {
        case 'TEXT_MESSAGE_START':
          return begin(event.messageId)
        case 'TEXT_MESSAGE_CONTENT':
          // A listener that missed the beginning gets the whole text at its end.
          return texts.has(event.messageId) ? write(event.messageId, event.delta) : []
        case 'TEXT_MESSAGE_END':
          return end(event.messageId)
        case 'REASONING_MESSAGE_START':
          return beginReasoning(event.messageId)
        case 'REASONING_MESSAGE_CONTENT':
          return continueReasoning(event.delta)
        case 'REASONING_MESSAGE_END':
          return endReasoning()
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
          // The stored message has this text, also for other processes.
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
      return [...endReasoning(), ...[...texts.keys()].flatMap((id) => end(id, true)), ...cut]
    },
  }
}
