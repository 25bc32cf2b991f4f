import { checkOptions, is } from '../check-options.ts'
import type { Message } from '../messages/message.ts'
import { escapeBlocks } from '../messages/metas-block.ts'
import { type MessageInput, toMessage } from '../messages/to-message.ts'
import { type PlaceDataOptions, placeData } from './place-data.ts'

/** What the model sees of one message. */
export interface ContextMessage {
  role: string
  content: { type: 'text'; text: string }
}

/** Options of {@link renderContext}. */
export type RenderContextOptions = Pick<PlaceDataOptions, 'merge' | 'maxChars'>

/**
 * Returns what the model sees of these messages: texts in place, and data as one user text per identity. Other
 * parts are shown as their type. Throws the errors of `toMessage` and of the board.
 */
export function renderContext(
  messages: readonly MessageInput[],
  options?: RenderContextOptions,
): ContextMessage[] {
  checkOptions('renderContext', options, {
    merge: is.oneOf('engine', 'model'),
    maxChars: is.positive,
  })
  return placeData(messages.map(toMessage), options).map((item) => {
    if (item.type === 'data') return textMessage('user', item.text)
    const role = item.message.sender.participant_role
    const text = textOf(item.message)
    return textMessage(role, role === 'system' ? text : escapeBlocks(text))
  })
}

/** Returns the text of a message: its own, that of its parts, or its content as JSON. */
export function textOf({ content }: Message): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return JSON.stringify(content, null, 2)
  return content.map((part) => part?.text ?? `[${part?.type}]`).join('\n')
}

function textMessage(role: string, text: string): ContextMessage {
  return { role, content: { type: 'text', text } }
}
