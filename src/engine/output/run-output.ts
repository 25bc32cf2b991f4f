import type { Assets } from '../../assets/assets-contract.ts'
import { jsonInteger } from '../../assets/tables/long-number.ts'
import { boundaryOf } from '../../boundary/boundary.ts'
import { resolveCall } from '../../boundary/resolve.ts'
import { declaresReferences } from '../../boundary/resolve-assets.ts'
import type { Tool } from '../../boundary/tool.ts'
import { ConversationSource, type ValueSource } from '../../boundary/value-source.ts'
import { ByrefError, type ByrefErrorCode, errorMessage } from '../../core/errors.ts'
import type { ConversationState, RunState } from '../../core/events/conversation-state.ts'
import type { AssetCreated, FinishReason, TokenUsage } from '../../core/events/events.ts'
import { Branch, copyTree } from '../../core/json/copy-json.ts'
import { isPlainObject, type JsonObject, type JsonValue } from '../../core/json/json.ts'
import type { Message } from '../../core/messages/message.ts'
import { readMetadata } from '../../core/messages/read-metadata.ts'
import { createResults } from '../../core/messages/results.ts'
import { newId } from '../../core/new-id.ts'
import { callIdOf } from '../../core/refs/item-call.ts'
import { answerSchema, answerValue, wrappedAnswer } from '../../models/json-answer.ts'
import { boardOf } from '../session-values.ts'
import {
  askedSchema,
  finalText,
  mismatch,
  type OutputSchema,
  type ReadOutput,
  readOutput,
  refineOutput,
} from './output-schema.ts'

/** The result of a run that has ended. */
export interface RunResult<Output = unknown> {
  /** The text of the agent's last answer; empty if there is none. */
  text: string
  /** The answer, parsed by the schema of `run({ output })`; null if no output was requested. */
  output: Output
  /** Why the run ended: `done`, `length`, `content_filter`, `cancelled`, or a limit such as `step_limit`. */
  reason: FinishReason
  /** The tokens of all steps, including sub-agents, `ask_about` and the tools' own model calls. */
  usage: TokenUsage
  /** The assets that its tools and its model created, in order of creation. */
  assets: readonly AssetCreated[]
  conversation: string
}

/**
 * Returns the result of a run that has ended.
 *
 * @throws ByrefError the error of its `RUN_ERROR`; `output_invalid` if the requested output is missing or invalid
 */
export async function runResult<Output>(
  { id, state }: { id: string; state: ConversationState },
  run: RunState,
  options: { schema?: OutputSchema; assets: Assets },
): Promise<RunResult<Output>> {
  const { status, error, reason = 'done', usage } = run
  if (status === 'failed') {
    throw new ByrefError((error?.code ?? 'run_failed') as ByrefErrorCode, error?.message ?? '')
  }
  const output = (await runOutput(state, run, options)) as Output
  const assets = assetsOf(state, run)
  const { text } = lastAnswer(state, run)
  return { text, output, reason, usage, assets, conversation: id }
}

/** Returns the assets of a run's calls so far, and the attachments of its answers. */
export function assetsOf(
  { assets, messages }: ConversationState,
  { steps }: RunState,
): AssetCreated[] {
  const calls = new Set(steps.flatMap(({ callIds }) => callIds))
  const answers = new Set(steps.map(({ messageId }) => messageId))
  // A conversation may have thousands of messages, and models seldom make assets.
  const written = assets.some(({ by }) => by === 'agent')
    ? messages.filter(({ id }) => answers.has(id))
    : []
  const attached = new Set(
    written.flatMap((message) => readMetadata(message).attachments.map(({ assetRef }) => assetRef)),
  )
  return assets.filter(({ ref, by, toolCallId = '' }) => {
    const isOfCall = calls.has(toolCallId) || calls.has(callIdOf(toolCallId))
    return isOfCall || (by === 'agent' && attached.has(ref))
  })
}

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

/** Where the values of an answer's references are read. */
export interface OutputSource {
  values: ValueSource
  assets: Assets
}

/**
 * Replaces the references in an answer with values, as in the arguments of a call. Only fields that take references are
 * read. Returns a problem if a reference cannot be read, or if its value does not match the schema.
 */
export async function resolveOutput(
  value: JsonValue,
  schema: JsonObject,
  source: () => OutputSource,
): Promise<ReadOutput<unknown>> {
  if (!declaresReferences(schema)) return { value }
  const { values, assets } = source()
  const inputSchema = answerSchema(schema)
  const tool: Tool = { id: 'output', description: '', inputSchema, execute() {} }
  const reading = { values, assets: () => assets, isDeclaredOnly: true }
  const boundary = boundaryOf(reading.assets, { validate: false })
  try {
    const { arguments: args } = await resolveCall(tool, wrappedAnswer(value, schema), reading)
    const answer = await boundary.withInput({ tool, arguments: args }, (input) => input)
    const output = answerValue(withJsonNumbers(answer) as JsonObject, schema)
    const problem = mismatch(schema, output)
    return problem === null ? { value: output } : { problem }
  } catch (error) {
    return { problem: errorMessage(error) }
  }
}

/** Copies an answer. Bigints become numbers, or text beyond 2^53. NaN and the infinities become text. */
function withJsonNumbers(answer: unknown): unknown {
  return copyTree(answer, (value) => {
    if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
    if (typeof value === 'bigint') return jsonInteger(value)
    if (Array.isArray(value)) return new Branch(value, true, value.entries())
    if (isPlainObject(value)) return new Branch(value, false, Object.entries(value))
    return value as JsonValue
  })
}
