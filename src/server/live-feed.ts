import type { ConversationEvent } from '../content/events.ts'
import type { Foldable } from '../content/fold.ts'

/** Hears each event; null when the conversation is gone. */
type Listener = (event: Foldable | null) => void

/** What happens in conversations right now, for those who watch. */
export interface LiveFeed {
  /** Passes an event on to the conversation's watchers. */
  publish(conversation: string, event: Foldable): void
  /** Tells the watchers that the conversation is gone. */
  end(conversation: string): void
  /** The events that bring a late watcher up to what is being written now: text and arguments so far. */
  soFar(conversation: string): ConversationEvent[]
  watch(conversation: string, listener: Listener): () => void
}

/** A feed within this process. */
export function createLiveFeed(): LiveFeed {
  const watchers = new Map<string, Set<Listener>>()
  const open = new Map<string, Map<string, Writing>>()

  return {
    publish(conversation, record) {
      const writing = open.get(conversation) ?? new Map<string, Writing>()
      remember(writing, record.event)
      if (writing.size > 0) open.set(conversation, writing)
      else open.delete(conversation)
      for (const listener of watchers.get(conversation) ?? []) listener(record)
    },
    end(conversation) {
      open.delete(conversation)
      for (const listener of watchers.get(conversation) ?? []) listener(null)
    },
    soFar(conversation) {
      return [...(open.get(conversation)?.values() ?? [])].flatMap(({ start, delta, text }) =>
        text === '' ? [start] : [start, delta(text)],
      )
    },
    watch(conversation, listener) {
      const all = watchers.get(conversation) ?? new Set()
      watchers.set(conversation, all.add(listener))
      return () => {
        all.delete(listener)
        if (all.size === 0) watchers.delete(conversation)
      }
    },
  }
}

/** A text or a call's arguments that are being written. */
interface Writing {
  start: ConversationEvent
  delta(text: string): ConversationEvent
  text: string
}

function remember(writing: Map<string, Writing>, event: ConversationEvent): void {
  switch (event.type) {
    case 'TEXT_MESSAGE_START': {
      const { messageId } = event
      const delta = (text: string): ConversationEvent => ({
        type: 'TEXT_MESSAGE_CONTENT',
        messageId,
        delta: text,
      })
      writing.set(messageId, { start: event, delta, text: '' })
      break
    }
    case 'TOOL_CALL_START': {
      const { toolCallId } = event
      const delta = (text: string): ConversationEvent => ({
        type: 'TOOL_CALL_ARGS',
        toolCallId,
        delta: text,
      })
      writing.set(toolCallId, { start: event, delta, text: '' })
      break
    }
    case 'TEXT_MESSAGE_CONTENT':
    case 'TOOL_CALL_ARGS': {
      const id = event.type === 'TOOL_CALL_ARGS' ? event.toolCallId : event.messageId
      const entry = writing.get(id)
      if (entry) entry.text += event.delta
      break
    }
    case 'NEW_MESSAGE':
      writing.delete(event.payload.id)
      break
    case 'TOOL_CALL_END':
      writing.delete(event.toolCallId)
      break
    // Whoever takes a run over does not write on what another began.
    case 'RUN_CLAIMED':
    case 'RUN_FINISHED':
    case 'RUN_ERROR':
      writing.clear()
      break
  }
}
