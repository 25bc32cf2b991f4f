import { ByrefError } from '../../core/errors.ts'
import type { ConversationState, RunState } from '../../core/events/conversation-state.ts'
import type { JsonObject, JsonValue } from '../../core/json/json.ts'
import type { Message } from '../../core/messages/message.ts'
import { newId } from '../../core/new-id.ts'
import { answerSchema } from '../../models/json-answer.ts'
import { type OutputSchema, readOutput, refineOutput } from './output-schema.ts'

/** Returns why a run's last answer does not fit the requested schema; null if it fits, or none was requested. */
export function outputProblem(
  state: Pick<ConversationState, 'messages'>,
  run: RunState,
): string | null {
  if (!run.overrides?.output) return null
  return readOutput(lastText(state, run), run.overrides.output).problem ?? null
}

/**
 * Returns the output of a run that has ended; null if none was requested.
 *
 * @param schema The caller's schema. Its checks and transforms are applied in addition to the JSON Schema in the log.
 * @throws ByrefError `output_invalid` if the run ended without an answer, or with one that does not fit
 */
export async function runOutput(
  state: Pick<ConversationState, 'messages'>,
  run: RunState,
  schema?: OutputSchema,
): Promise<unknown> {
  if (!run.overrides?.output) return null
  if (run.reason !== 'done')
    throw invalid(`the run ended with ${run.reason} before the model answered`)
  const { problem, ...read } = readOutput(lastText(state, run), run.overrides.output)
  if (problem !== undefined) throw invalid(problem)
  const { value } = read as { value: JsonValue }
  if (!schema) return value
  const refined = await refineOutput(value, schema)
  if (refined.problem !== undefined) throw invalid(refined.problem)
  return refined.value
}

/** Returns the text of a run's last answer. Empty if that answer has calls, or the run was cancelled. */
export function lastText(
  { messages }: Pick<ConversationState, 'messages'>,
  { steps, reason }: RunState,
): string {
  const last = steps.findLast(({ finishedAt }) => finishedAt !== undefined)
  if (!last || last.callIds.length > 0 || reason === 'cancelled') return ''
  const message = messages.findLast(({ id }) => id === last.messageId)
  return typeof message?.content === 'string' ? message.content : ''
}

function invalid(why: string): ByrefError {
  return new ByrefError('output_invalid', `The run has no valid output: ${why}`)
}

/** Tells the model which schema its answer must fit. Not all providers enforce a schema. */
export function outputRequest(schema: JsonObject): string {
  return `Your final answer must be only JSON that fits this JSON Schema:\n${JSON.stringify(answerSchema(schema))}`
}

/** Tells the model why its answer does not fit the schema. */
export function outputComplaint(problem: string): string {
  return `That answer does not match the schema: ${problem}. Send the complete answer again, as JSON only.`
}

/** Returns a text for the model as a message of the system. */
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
