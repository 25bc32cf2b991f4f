import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { called } from '../../core/called.ts'
import { checkOptions, is, type OptionTable } from '../../core/check-options.ts'
import { ByrefError } from '../../core/errors.ts'
import { addUsage } from '../../core/events/conversation-state.ts'
import type { TokenUsage } from '../../core/events/events.ts'
import { type JsonObject, type JsonValue, putKey } from '../../core/json/json.ts'
import {
  type OutputOf,
  type OutputSchema,
  outputJsonSchema,
  type ReadOutput,
  readOutput,
  refineOutput,
} from '../../engine/output/output-schema.ts'
import { outputComplaint, outputRequest, resolveOutput } from '../../engine/output/run-output.ts'
import { CAPABILITIES } from '../../models/capabilities.ts'
import { nestedSchema } from '../../models/json-answer.ts'
import { MODEL, MODEL_SETTINGS, modelSettings, RETRY_OPTIONS } from '../../models/language-model.ts'
import { type MessagesInput, messagesOf } from '../messages-input.ts'
import type { RequestConfig, RequestPrompt } from './request-prompt.ts'

/** The result of a request. */
export interface Solution<Output = unknown> {
  output: Output
  /** The text of the model's last answer. */
  text: string
  /** The usage of all attempts. Has `cost` in US dollars if the model's price is known. */
  usage: TokenUsage
  /** The number of attempts: 2 if the first answer did not match the schema. */
  tries: number
}

const OPTIONS: OptionTable<RequestConfig> = {
  model: is.required(MODEL),
  instructions: called(is.string, 'system', 'systemPrompt', 'prompt'),
  settings: is.group(MODEL_SETTINGS),
  instances: is.boolean,
  assets: is.having('assets, made by createAssets', 'resolve', 'scoped'),
  capabilities: is.group(CAPABILITIES),
  retry: is.group(RETRY_OPTIONS),
  modelTimeoutMs: is.positive,
  signal: is.signal,
  onUsage: is.callback(),
}

/**
 * Makes one model call without tools. It takes messages in any form, and resolves to an answer that matches the schema.
 * Data is shown as in a conversation. If the answer does not match, the model is asked once more and told what is
 * wrong.
 *
 * @param schema A Standard Schema (zod 4 …) or JSON Schema. Null uses the `output` of the last input message.
 * @throws ByrefError `output_invalid` if the second answer does not match either; `config_invalid`, `invalid_message`,
 *   `schema_violation` for an invalid request; `model_failed`, `model_unauthorized`; the signal's reason
 */
export function request<Schema extends OutputSchema | null>(
  config: RequestConfig & { instances: true },
  schema: Schema,
  messages: MessagesInput,
): Promise<Solution<Record<string, OutputOf<Schema>>>>
export function request<Schema extends OutputSchema | null>(
  config: RequestConfig,
  schema: Schema,
  messages: MessagesInput,
): Promise<Solution<OutputOf<Schema>>>
export async function request(
  config: RequestConfig,
  schema: OutputSchema | null,
  messages: MessagesInput,
): Promise<Solution> {
  checkOptions('request', config, OPTIONS)
  const settings = modelSettings(config.settings)
  const { askOnce, requestPrompt } = await import('./request-prompt.ts')
  const prompt = await requestPrompt(messagesOf(messages), config)
  const outputSchema = schema ?? prompt.output
  if (!outputSchema) throw noSchema()
  const reader = readerOf(outputSchema, prompt, config)
  const { price } = prompt
  const ask = (messages: LanguageModelV4Prompt) =>
    askOnce({ ...config, settings }, messages, { schema: reader.schema, price })
  const words = [config.instructions, reader.words, outputRequest(reader.schema)]
  const sent = withSystem(words, prompt.messages)
  const first = await ask(sent)
  const read = await reader.read(first.text)
  if (read.problem === undefined) return solved(read.value, [first])
  const second = await ask([
    ...sent,
    // Providers reject a blank text.
    { role: 'assistant', content: [{ type: 'text', text: first.text.trim() || '(no answer)' }] },
    { role: 'user', content: [{ type: 'text', text: outputComplaint(read.problem) }] },
  ])
  const again = await reader.read(second.text)
  if (again.problem === undefined) return solved(again.value, [first, second])
  throw new ByrefError(
    'output_invalid',
    `The model's answer does not match the schema, even after a second attempt: ${again.problem}`,
  )
}

/** Merges all system text into one message, because some providers accept only one. */
function withSystem(
  words: readonly (string | undefined)[],
  messages: LanguageModelV4Prompt,
): LanguageModelV4Prompt {
  const [first, ...rest] = messages
  const isSystem = first?.role === 'system'
  const content = [...words, isSystem ? first.content : ''].filter(Boolean).join('\n\n')
  return [{ role: 'system', content }, ...(isSystem ? rest : messages)]
}

function readerOf(
  outputSchema: OutputSchema,
  { instances, source }: RequestPrompt,
  config: RequestConfig,
): AnswerReader {
  const one = outputJsonSchema(outputSchema)
  const refine = async (value: JsonValue): Promise<ReadOutput<unknown>> => {
    const read = await resolveOutput(value, one, () => source)
    return read.problem === undefined ? refineOutput(read.value, outputSchema) : read
  }
  if (config.instances) return instanceAnswers(one, instances, refine)
  return {
    schema: one,
    words: '',
    async read(text) {
      const read = readOutput(text, one)
      return read.problem === undefined ? refine(read.value) : read
    },
  }
}

function solved(
  output: unknown,
  answers: readonly { text: string; usage: TokenUsage }[],
): Solution {
  const usage = answers.map((answer) => answer.usage).reduce(addUsage)
  return { output, text: answers.at(-1)?.text ?? '', usage, tries: answers.length }
}

function noSchema(): ByrefError {
  return new ByrefError(
    'config_invalid',
    'The request has no schema. Pass a schema, or an input message with `output`.',
  )
}

/** How an answer is requested and read. */
export interface AnswerReader {
  /** JSON Schema of the whole answer. */
  schema: JsonObject
  words: string
  read(text: string): Promise<ReadOutput<unknown>>
}

/** Maximum number of problems that are reported to the model. */
const MAX_PROBLEMS = 20

/**
 * Requests one answer per instance, as a list of `{ _instance, output }` in which each `output` fits the
 * schema of one answer. The result has the answers by instance, each as `refine` returns it. A repeated request needs to
 * contain only the answers that were missing or invalid.
 *
 * @throws ByrefError `invalid_message` if there is no instance
 */
export function instanceAnswers(
  one: JsonObject,
  instances: readonly string[],
  refine: (value: JsonValue) => Promise<ReadOutput<unknown>>,
): AnswerReader {
  if (instances.length === 0) {
    throw new ByrefError(
      'invalid_message',
      'The messages have no instances. Send data messages with an _instance.',
    )
  }
  const solved = new Map<string, unknown>()
  const expected = new Set(instances)

  async function take(item: JsonValue): Promise<string | null> {
    const { _instance: name, output } = Object(item) as Record<string, JsonValue>
    if (typeof name !== 'string' || !expected.has(name)) {
      return `unknown instance ${JSON.stringify(name ?? null)}`
    }
    const { problem, ...read } = readOutput(JSON.stringify(output ?? null), one)
    const refined =
      problem === undefined ? await refine((read as { value: JsonValue }).value) : null
    if (refined && refined.problem === undefined) solved.set(name, refined.value)
    else return `in ${JSON.stringify(name)}: ${problem ?? refined?.problem}`
    return null
  }

  return {
    schema: listOf(one),
    words:
      'The data has instances: blocks whose heading ends with "#" and a name. Work on each separately, and give one result for each, with its name as `_instance`.',
    async read(text) {
      const { problem, ...read } = readOutput(text, { type: 'object', required: ['results'] })
      if (problem !== undefined) return { problem }
      const { results } = (read as { value: { results: JsonValue } }).value
      if (!Array.isArray(results)) return { problem: '/results must be array' }
      const problems: string[] = []
      for (const item of results) {
        const found = await take(item)
        if (found !== null) problems.push(found)
      }
      const missing = instances.filter((name) => !solved.has(name))
      if (missing.length === 0) return { value: inOrder(instances, solved) }
      const names = missing.map((name) => JSON.stringify(name)).join(', ')
      const shown = problems.slice(0, MAX_PROBLEMS)
      return { problem: [...shown, `give the results for ${names} only`].join('; ') }
    },
  }
}

function inOrder(
  instances: readonly string[],
  solved: ReadonlyMap<string, unknown>,
): Record<string, unknown> {
  const outputs: Record<string, unknown> = {}
  for (const name of instances) putKey(outputs, name, solved.get(name))
  return outputs
}

/** Returns the schema of the list. */
function listOf(one: JsonObject): JsonObject {
  const { nested, definitions } = nestedSchema(one)
  const item = {
    type: 'object',
    properties: { _instance: { type: 'string' }, output: nested },
    required: ['_instance', 'output'],
    additionalProperties: false,
  }
  return {
    type: 'object',
    properties: { results: { type: 'array', items: item } },
    required: ['results'],
    additionalProperties: false,
    ...definitions,
  }
}
