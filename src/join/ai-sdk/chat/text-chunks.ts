import type { UIMessageChunk } from 'ai'
import type { ConversationEvent } from '../../../content/events.ts'

/** The texts of one run, as they are written and as they are kept. */
export interface TextChunks {
  take(event: ConversationEvent): UIMessageChunk[]
  /** The whole text of an answer: what of it was not told, or all of it to who came in the middle. */
  whole(id: string, text: string): UIMessageChunk[]
}

/** Begins with no texts. */
export function createTextChunks(): TextChunks {
  const writing = new Map<string, string>()
  const told = new Set<string>()
  return {
    take(event) {
      if (event.type === 'TEXT_MESSAGE_START') {
        writing.set(event.messageId, '')
        return [{ type: 'text-start', id: event.messageId }]
      }
      if (event.type !== 'TEXT_MESSAGE_CONTENT') return []
      const { messageId: id, delta } = event
      const soFar = writing.get(id)
      if (soFar === undefined || told.has(id)) return []
      writing.set(id, soFar + delta)
      return [{ type: 'text-delta', id, delta }]
    },
    whole(id, text) {
      if (told.has(id)) return []
      told.add(id)
      const soFar = writing.get(id)
      const rest = text.startsWith(soFar ?? '') ? text.slice(soFar?.length) : ''
      if (soFar === undefined && rest === '') return []
      return [
        ...(soFar === undefined ? [{ type: 'text-start', id } as const] : []),
        ...(rest === '' ? [] : [{ type: 'text-delta', id, delta: rest } as const]),
        { type: 'text-end', id },
      ]
    },
  }
}
