import { textOf } from '../../core/board/render-context.ts'
import type { CallError, ConversationEvent, EventOf } from '../../core/events/events.ts'
import type { Message, ToolCall } from '../../core/messages/message.ts'
import { readMetadata } from '../../core/messages/read-metadata.ts'

/** A piece of an agent's output, independent of the protocol. */
export type AnswerPiece =
  /** If a message continues after a call, each part is a separate text. */
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
  /** A call whose arguments were cut off. It does not run. */
  | { type: 'call-cut'; id: string; name: string }
  | { type: 'result'; id: string; message: Message; error: CallError | null }
  /** A complete answer of a model. Comes after its text. */
  | { type: 'answer'; message: Message }
  /** Any other event. */
  | { type: 'event'; event: ConversationEvent }

/**
 * Turns the events of a conversation, from some point on, into pieces. Each text and each call begins once, continues
 * and ends. It does not matter whether it streamed, is read from the log, or was in progress when the listener joined.
 */
export class AnswerPieces {
  readonly #texts = new Texts()
  readonly #reasoning = new Reasoning()
  /** The calls whose arguments stream, by their ids. */
  readonly #calls = new Map<string, { name: string; messageId: string }>()

  take(event: ConversationEvent): AnswerPiece[] {
    switch (event.type) {
      case 'TEXT_MESSAGE_START':
        return this.#texts.begin(event.messageId)
      case 'TEXT_MESSAGE_CONTENT':
        return this.#texts.write(event.messageId, event.delta)
      case 'TEXT_MESSAGE_END':
        return this.#texts.end(event.messageId)
      case 'REASONING_MESSAGE_START':
        return this.#reasoning.begin(event.messageId)
      case 'REASONING_MESSAGE_CONTENT':
        return this.#reasoning.write(event.delta)
      case 'REASONING_MESSAGE_END':
        return this.#reasoning.end()
      case 'TOOL_CALL_START': {
        const { toolCallId: id, toolCallName: name, parentMessageId: messageId } = event
        if (this.#calls.has(id)) return []
        this.#calls.set(id, { name, messageId })
        return [{ type: 'call-start', id, name, messageId }]
      }
      case 'TOOL_CALL_ARGS': {
        const { toolCallId: id, delta } = event
        return this.#calls.has(id) && delta !== '' ? [{ type: 'call-delta', id, delta }] : []
      }
      case 'TOOL_CALL_END': {
        const { toolCallId: id, call, parentMessageId: messageId } = event
        if (this.#calls.delete(id)) return [{ type: 'call-end', id, call, rest: '' }]
        const start = { type: 'call-start', id, name: call.name, messageId } as const
        return [start, { type: 'call-end', id, call, rest: JSON.stringify(call.arguments) }]
      }
      case 'TOOL_CALL_RESULT':
        // The stored message has this text, also for other processes.
        return []
      case 'NEW_MESSAGE':
        return this.#keep(event)
      default:
        return [{ type: 'event', event }]
    }
  }

  /** Ends everything that is still being written. */
  finish(): AnswerPiece[] {
    return [...this.#reasoning.end(), ...this.#texts.cut(), ...this.#cutCalls()]
  }

  /** @param of Only the calls of this message. */
  #cutCalls(of?: string): AnswerPiece[] {
    return [...this.#calls].flatMap(([id, { name, messageId }]): AnswerPiece[] => {
      if (of !== undefined && of !== messageId) return []
      this.#calls.delete(id)
      return [{ type: 'call-cut', id, name }]
    })
  }

  #keep(event: EventOf<'NEW_MESSAGE'>): AnswerPiece[] {
    const { payload: message } = event
    const { id, sender, content_type: type } = message
    const { result, calls } = readMetadata(message)
    if (result) return [{ type: 'result', id: result.callId, message, error: result.error }]
    if (sender.participant_role !== 'assistant' || type === 'data') {
      return [{ type: 'event', event }]
    }
    const reasoning = this.#reasoning.restOf(message)
    const text = this.#texts.restOf(id, textOf(message))
    // Complete calls are in the log before their answer. If it has some, the run continues with them.
    const cut = calls.length > 0 ? this.#cutCalls(id) : []
    return [...reasoning, ...text, ...cut, { type: 'answer', message }]
  }
}

/** The part of a message's text that was passed on. */
interface SentText {
  text: string
  /** The number of texts. A model may continue after a call, which starts another text. */
  parts: number
  /** The text that is being written: its id, and where it starts. */
  open: { id: string; from: number } | null
}

/** The texts of answers. */
class Texts {
  readonly #sent = new Map<string, SentText>()

  begin(messageId: string): AnswerPiece[] {
    const sent = this.#sent.get(messageId) ?? { text: '', parts: 0, open: null }
    if (sent.open) return []
    const id = sent.parts++ === 0 ? messageId : `${messageId}-${sent.parts}`
    this.#sent.set(messageId, sent)
    sent.open = { id, from: sent.text.length }
    return [{ type: 'text-start', id, messageId }]
  }

  /** A listener that missed the beginning gets the whole text at its end. */
  write(messageId: string, delta: string): AnswerPiece[] {
    const sent = this.#sent.get(messageId)
    if (!sent) return []
    // Blank lines separate a later text from the one before it, and belong to neither.
    const shown = sent.open ? delta : delta.trimStart()
    sent.text += delta.slice(0, delta.length - shown.length)
    if (shown === '') return []
    const began = this.begin(messageId)
    sent.text += shown
    return [...began, { type: 'text-delta', id: sent.open?.id ?? '', messageId, delta: shown }]
  }

  end(messageId: string, isCut = false): AnswerPiece[] {
    const sent = this.#sent.get(messageId)
    if (!sent?.open) return []
    const { id, from } = sent.open
    sent.open = null
    return [{ type: 'text-end', id, messageId, text: sent.text.slice(from), isCut }]
  }

  /** Ends all texts in the middle. */
  cut(): AnswerPiece[] {
    return [...this.#sent.keys()].flatMap((id) => this.end(id, true))
  }

  /** Returns the pieces for the part of a whole text that was not passed on yet. */
  restOf(messageId: string, text: string): AnswerPiece[] {
    const sent = this.#sent.get(messageId)?.text ?? ''
    const rest = text.startsWith(sent) ? text.slice(sent.length) : ''
    const began = rest === '' ? [] : this.begin(messageId)
    return [...began, ...this.write(messageId, rest), ...this.end(messageId)]
  }
}

/** The reasoning of answers. A model may reason in several parts. */
class Reasoning {
  /** The answers whose reasoning was streamed. */
  readonly #streamed = new Set<string>()
  #parts = 0
  /** The id of the part that is streaming. */
  #open: string | null = null

  begin(messageId: string): AnswerPiece[] {
    const before = this.end()
    this.#streamed.add(messageId)
    this.#open = `${messageId}-reasoning-${++this.#parts}`
    return [...before, { type: 'reasoning-start', id: this.#open }]
  }

  write(delta: string): AnswerPiece[] {
    return this.#open === null ? [] : [{ type: 'reasoning-delta', id: this.#open, delta }]
  }

  end(): AnswerPiece[] {
    const id = this.#open
    this.#open = null
    return id === null ? [] : [{ type: 'reasoning-end', id }]
  }

  /** Returns the reasoning of a whole answer, if it was not streamed. */
  restOf(message: Message): AnswerPiece[] {
    if (this.#streamed.has(message.id)) return this.end()
    const texts = readMetadata(message)
      .reasoning.map(({ text }) => text)
      .filter(Boolean)
    return texts.flatMap((text) => [...this.begin(message.id), ...this.write(text), ...this.end()])
  }
}
