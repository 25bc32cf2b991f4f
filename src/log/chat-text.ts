import type { ConversationEvent } from '../core/events/events.ts'

/**
 * Returns the text of a chat message: its content, or its text parts on lines; null for any other event. Never throws.
 */
export function chatText(event: ConversationEvent): string | null {
  if (event.type !== 'NEW_MESSAGE' || event.payload?.message_type !== 'chat') return null
  const { content, content_type } = event.payload
  if (typeof content === 'string') return String(content_type).startsWith('text/') ? content : null
  if (content_type !== 'multipart/mixed' || !Array.isArray(content)) return null
  return content
    .flatMap((part) =>
      part?.type === 'text' && typeof part.text === 'string' ? [part.text as string] : [],
    )
    .join('\n')
}

/** Folds the letter case of text for searches. NUL becomes another character, because SQLite skips it. */
export function foldCase(text: string): string {
  return text.toWellFormed().toLowerCase().replaceAll('ς', 'σ').replaceAll('\0', '\ufffd')
}
