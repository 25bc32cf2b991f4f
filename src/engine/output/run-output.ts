import type { Assets } from '../../assets/assets-contract.ts'
import { declaresReferences } from '../../boundary/resolve-assets.ts'
import { ConversationSource } from '../../boundary/value-source.ts'
import { ByrefError } from '../../core/errors.ts'
import type { ConversationState, RunState } from '../../core/events/conversation-state.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { Message } from '../../core/messages/message.ts'
import { readMetadata } from '../../core/messages/read-metadata.ts'
import { createResults } from '../../core/messages/results.ts'
import { newId } from '../../core/new-id.ts'
import { boardOf } from '../session-values.ts'
import { type OutputSource, resolveOutput } from './output-references.ts'
import {
  askedSchema,
  finalText,
  type OutputSchema,
  readOutput,
  refineOutput,
} from './output-schema.ts'

/** Returns why a run's last answer does not fit the requested schema; null if it fits, or none was requested. */
export function outputProblem(
  state: Pick<ConversationState, 'messages'>,
  run: RunState,
): string | null {
  if (!run.overrides?.output) return null
  const { problem } = readOutput(lastAnswer(state, run).final, run.overrides.output)
  return problem ?? run.steps.at(-1)?.outputProblem ?? null
}

/**
 * Returns the output of a run that has ended; null if none was requested.
 *
 * @param options.schema The caller's schema. Its checks and transforms are applied in addition to the JSON Schema in
 *   the log.
 * @throws ByrefError `output_invalid` if the run ended without an answer, or with one that does not fit
 */
export async function runOutput(
  state: Pick<ConversationState, 'messages'>,
  run: RunState,
  { schema, assets }: { schema?: OutputSchema; assets: Assets },
): Promise<unknown> {
  const asked = run.overrides?.output
  if (!asked) return null
  if (run.reason !== 'done')
    throw invalid(`the run ended with ${run.reason} before the model answered`)
  const answer = readOutput(lastAnswer(state, run).final, asked)
  if (answer.problem !== undefined) throw invalid(answer.problem)
  const read = await resolveOutput(answer.value, asked, () => sourceAt(state, run, assets))
  if (read.problem !== undefined) throw invalid(read.problem)
  if (!schema) return read.value
  const refined = await refineOutput(read.value, schema)
  if (refined.problem !== undefined) throw invalid(refined.problem)
  return refined.value
}

/** Returns a source of the values at the time of a run's last answer. Later runs may have changed them. */
function sourceAt(
  { messages }: Pick<ConversationState, 'messages'>,
  run: RunState,
  assets: Assets,
): OutputSource {
  const last = run.steps.findLast(({ finishedAt }) => finishedAt !== undefined)
  const end = messages.findLastIndex(({ id }) => id === last?.messageId)
  const before = messages.slice(0, end)
  const results = createResults(before)
  return {
    values: new ConversationSource({ board: boardOf(before), results, assets }, { id: '' }),
    assets,
  }
}

/**
 * Returns the text of a run's last answer, and the final part of it. Empty if that answer has calls, or the run was
 * cancelled. An answer that its provider paused, and the answer that continues it, count as one.
 */
export function lastAnswer(
  { messages }: Pick<ConversationState, 'messages'>,
  run: RunState,
): { text: string; final: string } {
  const steps = run.steps.filter(({ finishedAt }) => finishedAt !== undefined)
  const last = steps.at(-1)
  if (!last || last.callIds.length > 0 || run.reason === 'cancelled') return NO_ANSWER
  const before = steps.findLastIndex((step) => step !== last && step.finishReason !== 'paused')
  const texts = steps.slice(before + 1).flatMap(({ messageId }) => {
    const message = messages.findLast(({ id }) => id === messageId)
    if (typeof message?.content !== 'string') return []
    const text = message.content
    return { text, final: finalText(text, readMetadata(message).answerParts) }
  })
  const text = texts.flatMap((one) => one.text || []).join('\n\n')
  return { text, final: texts.at(-1)?.final ?? '' }
}

const NO_ANSWER = { text: '', final: '' }

function invalid(why: string): ByrefError {
  return new ByrefError('output_invalid', `The run has no valid output: ${why}`)
}

/** Tells the model which schema its answer must fit. Not all providers enforce a schema. */
export function outputRequest(schema: JsonObject): string {
  const words = `Your final answer must be only JSON that fits this JSON Schema:\n${JSON.stringify(askedSchema(schema))}`
  return declaresReferences(schema) ? `${words}\n${REFERENCES}` : words
}

const REFERENCES = `Do not copy a long value into a field whose description says "(or asset://…)". Write a reference to it, such as "†state.rows" or "asset://<id>".`

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
