import type { JsonObject } from '../../core/json/json.ts'
import type { Message } from '../../core/messages/message.ts'
import { newId } from '../../core/new-id.ts'

/** What a model is told of the form of its answer, also where its provider does not hold it to that. */
export function outputRequest(schema: JsonObject): string {
  return `Your final answer shall be JSON alone, without other words, that fits this JSON Schema:\n${JSON.stringify(schema)}`
}

/** What a model is told of an answer that is not in the form that was asked for. */
export function outputComplaint(problem: string): string {
  return `That answer does not fit the schema: ${problem}. Answer again, with the whole of it as JSON alone.`
}

/** Such words as a message of the system, in a conversation. */
export function outputNotice(text: string): Message {
  return {
    id: newId(),
    sender: { participant_id: 'system', participant_role: 'system' },
    message_type: 'notice',
    content_type: 'text/plain',
    content: text,
    timestamp: new Date().toISOString(),
    metadata: {},
  }
}
