import { isPlainObject, type JsonObject } from '../../core/json/json.ts'
import type { DataBlock, Message } from '../../core/messages/message.ts'

/**
 * The schema of the result that messages ask for: the `output` of the last input message that has one, which so says of a
 * piece of work what goes in (`schema`) and what comes out. Null where none has.
 */
export function inputOutput(messages: readonly Message[]): JsonObject | null {
  for (const { content_type, content } of messages.toReversed()) {
    const { kind, output } = (content_type === 'data' ? content : {}) as Partial<DataBlock>
    if (kind === 'input' && isPlainObject(output)) return output as JsonObject
  }
  return null
}
