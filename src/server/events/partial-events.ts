import type { ConversationEvent } from '../../core/events/events.ts'

interface OpenText {
  start: ConversationEvent
  delta(text: string): ConversationEvent
  pieces: string[]
}

/** Returns the key of an answer's reasoning. */
function reasoningOf(messageId: string): string {
  return `${messageId} reasoning`
}

/** What streams in a conversation and is not in the log yet: text, arguments, progress, and a wait for the model. */
export class PartialEvents {
  readonly #open = new Map<string, OpenText>()
  readonly #progress = new Map<string, ConversationEvent>()
  #retry: ConversationEvent | null = null

  get isEmpty(): boolean {
    return this.#open.size === 0 && this.#progress.size === 0 && this.#retry === null
  }

  apply(event: ConversationEvent): void {
    switch (event.type) {
      case 'TEXT_MESSAGE_START': {
        const { messageId } = event
        const delta = (text: string) =>
          ({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta: text }) as const
        this.#open.set(messageId, { start: event, delta, pieces: [] })
        break
      }
      case 'REASONING_MESSAGE_START': {
        const { messageId } = event
        const delta = (text: string) =>
          ({ type: 'REASONING_MESSAGE_CONTENT', messageId, delta: text }) as const
        this.#open.set(reasoningOf(messageId), { start: event, delta, pieces: [] })
        break
      }
      case 'TOOL_CALL_START': {
        const { toolCallId } = event
        const delta = (text: string) =>
          ({ type: 'TOOL_CALL_ARGS', toolCallId, delta: text }) as const
        this.#open.set(toolCallId, { start: event, delta, pieces: [] })
        break
      }
      case 'TEXT_MESSAGE_CONTENT':
        this.#open.get(event.messageId)?.pieces.push(event.delta)
        break
      case 'REASONING_MESSAGE_CONTENT':
        this.#open.get(reasoningOf(event.messageId))?.pieces.push(event.delta)
        break
      case 'REASONING_MESSAGE_END':
        this.#open.delete(reasoningOf(event.messageId))
        break
      case 'TOOL_CALL_ARGS':
        this.#open.get(event.toolCallId)?.pieces.push(event.delta)
        break
      case 'TOOL_PROGRESS':
        this.#progress.set(event.payload.toolCallId, event)
        break
      case 'MODEL_RETRY':
        this.#retry = event
        break
      case 'STEP_FINISHED':
        this.#retry = null
        break
      case 'NEW_MESSAGE':
        this.#open.delete(event.payload.id)
        this.#open.delete(reasoningOf(event.payload.id))
        this.#progress.delete(event.payload.metadata.tool_result?.tool_call_id ?? '')
        break
      case 'TOOL_CALL_END':
        this.#open.delete(event.toolCallId)
        break
      // Whoever takes over a run starts its step again.
      case 'RUN_CLAIMED':
      case 'RUN_FINISHED':
      case 'RUN_ERROR':
        this.#open.clear()
        this.#progress.clear()
        this.#retry = null
        break
    }
  }

  /** Returns the events that a new reader needs. */
  events(): ConversationEvent[] {
    const texts = [...this.#open.values()].flatMap(({ start, delta, pieces }) => {
      if (pieces.length === 0) return [start]
      const text = pieces.join('')
      pieces.splice(0, pieces.length, text)
      return [start, delta(text)]
    })
    return [...texts, ...this.#progress.values(), ...(this.#retry ? [this.#retry] : [])]
  }
}
