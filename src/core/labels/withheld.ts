import { isPlainObject } from '../json/json.ts'
import type { Message, ToolCall } from '../messages/message.ts'

/** Replaces a value that the reader may not read. It has the type, and the length as JSON. */
export interface Withheld {
  withheld: true
  type: 'text' | 'object' | 'list' | 'number' | 'boolean' | 'null'
  size: number
}

/** The `content_type` of a message with a {@link Withheld} as its content. */
export const WITHHELD = 'application/vnd.byref.withheld+json'

/** Returns what replaces a value. */
export function withheld(value: unknown): Withheld {
  return { withheld: true, type: typeOf(value), size: JSON.stringify(value)?.length ?? 0 }
}

/** Whether a value is a {@link Withheld}. */
export function isWithheld(value: unknown): value is Withheld {
  return isPlainObject(value) && value.withheld === true && typeof value.size === 'number'
}

/**
 * Returns what a reader sees of a message that they may not read: its sender and time, the names of its calls, and the
 * id of the call that it answers.
 */
export function withheldMessage(message: Message): Message {
  const { id, sender, receiver, message_type, content, timestamp, metadata } = message
  const call: unknown = metadata?.tool_result?.tool_call_id
  const calls = Array.isArray(metadata?.tool_calls) ? metadata.tool_calls.filter(isPlainObject) : []
  return {
    id,
    sender,
    ...(receiver ? { receiver } : {}),
    message_type,
    timestamp,
    content_type: WITHHELD,
    content: withheld(content),
    metadata: {
      ...(typeof call === 'string' ? { tool_result: { tool_call_id: call } } : {}),
      ...(calls.length > 0 ? { tool_calls: calls.map(withheldCall) } : {}),
    },
  }
}

/** Returns a call without its arguments. */
export function withheldCall({ id, name, arguments: args }: ToolCall): ToolCall {
  return { id, name, arguments: { ...withheld(args) } }
}

function typeOf(value: unknown): Withheld['type'] {
  if (typeof value === 'string') return 'text'
  if (typeof value === 'number' || typeof value === 'boolean') {
    return typeof value as 'number' | 'boolean'
  }
  if (Array.isArray(value)) return 'list'
  return value === null || value === undefined ? 'null' : 'object'
}
