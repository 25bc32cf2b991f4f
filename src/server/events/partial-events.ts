import type { ConversationEvent, EventOf } from '../../core/events/events.ts'

type TextStart = EventOf<'TEXT_MESSAGE_START' | 'REASONING_MESSAGE_START' | 'TOOL_CALL_START'>
type TextPiece = EventOf<'TEXT_MESSAGE_CONTENT' | 'REASONING_MESSAGE_CONTENT' | 'TOOL_CALL_ARGS'>

/** A text that streams: its first event, and the events with its pieces. */
interface OpenText {
  start: TextStart
  pieces: TextPiece[]
}

/**
 * The streamed parts of a conversation that are not in the log yet: text, arguments, progress, and a wait for the
 * model.
 */
export class PartialEvents {
  readonly #open = new Map<string, OpenText>()
  readonly #progress = new Map<string, ConversationEvent>()
  #retry: ConversationEvent | null = null

  get isEmpty(): boolean {
    return this.#open.size === 0 && this.#progress.size === 0 && this.#retry === null
  }

  apply(event: ConversationEvent): void {
    switch (event.type) {
      case 'TEXT_MESSAGE_START':
      case 'REASONING_MESSAGE_START':
      case 'TOOL_CALL_START':
        this.#open.set(textKey(event), { start: event, pieces: [] })
        break
      case 'TEXT_MESSAGE_CONTENT':
      case 'REASONING_MESSAGE_CONTENT':
      case 'TOOL_CALL_ARGS':
        this.#open.get(textKey(event))?.pieces.push(event)
        break
      case 'REASONING_MESSAGE_END':
      case 'TOOL_CALL_END':
        this.#open.delete(textKey(event))
        break
      case 'TOOL_PROGRESS':
        this.#progress.set(event.payload.toolCallId, event)
        break
      case 'MODEL_RETRY':
        this.#retry = event
        break
      // The text of an abandoned answer is not continued.
      case 'STEP_STARTED':
        this.#open.clear()
        break
      case 'STEP_FINISHED':
        this.#retry = null
        break
      case 'NEW_MESSAGE':
        this.#open.delete(event.payload.id)
        this.#open.delete(reasoningKey(event.payload.id))
        this.#progress.delete(event.payload.metadata.tool_result?.tool_call_id ?? '')
        break
      // The process that takes over a run starts its step again.
      case 'RUN_CLAIMED':
      case 'RUN_FINISHED':
      case 'RUN_ERROR':
        this.#open.clear()
        this.#progress.clear()
        this.#retry = null
        break
    }
  }

  /** Returns the events that a new reader needs, with the pieces of each text joined. */
  events(): ConversationEvent[] {
    const texts = [...this.#open.values()].flatMap((text): ConversationEvent[] => {
      const [first] = text.pieces
      if (!first) return [text.start]
      const whole = { ...first, delta: text.pieces.map(({ delta }) => delta).join('') }
      text.pieces = [whole]
      return [text.start, whole]
    })
    return [...texts, ...this.#progress.values(), ...(this.#retry ? [this.#retry] : [])]
  }
}

/** Returns the key of the text that an event belongs to. */
function textKey(
  event: TextStart | TextPiece | EventOf<'REASONING_MESSAGE_END' | 'TOOL_CALL_END'>,
): string {
  if ('toolCallId' in event) return event.toolCallId
  const isReasoning = event.type.startsWith('REASONING')
  return isReasoning ? reasoningKey(event.messageId) : event.messageId
}

function reasoningKey(messageId: string): string {
  return `${messageId} reasoning`
}
