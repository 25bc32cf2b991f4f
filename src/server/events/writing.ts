import type { ConversationEvent } from '../../core/events/events.ts'

/** What is being written in a conversation right now and is not in the log yet: text, arguments, progress. */
export interface Writing {
  apply(event: ConversationEvent): void
  /** The events that bring somebody who comes late up to now. */
  soFar(): ConversationEvent[]
  readonly isEmpty: boolean
}

interface Open {
  start: ConversationEvent
  delta?(text: string): ConversationEvent
  pieces: string[]
}

/** Follows the events of one conversation. */
export function createWriting(): Writing {
  const open = new Map<string, Open>()
  const progress = new Map<string, ConversationEvent>()

  function append(id: string, piece: string): void {
    open.get(id)?.pieces.push(piece)
  }

  return {
    get isEmpty() {
      return open.size === 0 && progress.size === 0
    },
    apply(event) {
      switch (event.type) {
        case 'TEXT_MESSAGE_START': {
          const { messageId } = event
          const delta = (text: string): ConversationEvent => {
            return { type: 'TEXT_MESSAGE_CONTENT', messageId, delta: text }
          }
          open.set(messageId, { start: event, delta, pieces: [] })
          break
        }
        case 'TOOL_CALL_START': {
          const { toolCallId } = event
          const delta = (text: string): ConversationEvent => {
            return { type: 'TOOL_CALL_ARGS', toolCallId, delta: text }
          }
          open.set(toolCallId, { start: event, delta, pieces: [] })
          break
        }
        case 'TEXT_MESSAGE_CONTENT':
          append(event.messageId, event.delta)
          break
        case 'TOOL_CALL_ARGS':
          append(event.toolCallId, event.delta)
          break
        case 'TOOL_PROGRESS':
          progress.set(event.payload.toolCallId, event)
          break
        case 'NEW_MESSAGE':
          open.delete(event.payload.id)
          progress.delete(event.payload.metadata.tool_result?.tool_call_id ?? '')
          break
        case 'TOOL_CALL_END':
          open.delete(event.toolCallId)
          break
        // Whoever takes a run over does not write on what another began.
        case 'RUN_CLAIMED':
        case 'RUN_FINISHED':
        case 'RUN_ERROR':
          open.clear()
          progress.clear()
          break
      }
    },
    soFar() {
      const texts = [...open.values()].flatMap(({ start, delta, pieces }) => {
        if (pieces.length === 0 || !delta) return [start]
        const text = pieces.join('')
        pieces.splice(0, pieces.length, text)
        return [start, delta(text)]
      })
      return [...texts, ...progress.values()]
    },
  }
}
