import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { Assets } from '../../assets/assets-contract.ts'
import { checkOptions, is, type OptionTable } from '../../core/check-options.ts'
import { ByrefError } from '../../core/errors.ts'
import { addUsage } from '../../core/events/conversation-state.ts'
import type { TokenUsage } from '../../core/events/events.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { MessageInput } from '../../core/messages/to-message.ts'
import {
  type OutputOf,
  type OutputSchema,
  outputJsonSchema,
  type ReadOutput,
  readOutput,
  refineOutput,
} from '../../engine/output/output-schema.ts'
import { outputComplaint, outputRequest } from '../../engine/output/run-output.ts'
import { CAPABILITIES, type CapabilityOverrides } from '../../models/capabilities.ts'
import { type LanguageModel, MODEL } from '../../models/language-model.ts'
import { MODEL_SETTINGS, type ModelSettings, modelSettings } from '../../models/model-settings.ts'
import { RETRY_OPTIONS, type RetryOptions } from '../../models/retry-options.ts'
import { type InstanceAnswers, instanceAnswers } from './instance-answers.ts'
import type { RequestPrompt } from './request-prompt.ts'

/** What a request is made with. */
export interface RequestConfig {
  model: LanguageModel
  /** What the model is and how it should work. */
  instructions?: string
  /** How it answers, by the AI SDK's names. */
  settings?: ModelSettings
  /**
   * One answer for each instance (`_instance`) among the data messages: the model answers for all of them at once, and
   * `output` has each answer under the name of its instance. Default false.
   */
  instances?: boolean
  /** Where attached assets are found; default in memory, for bodies that come with the messages. */
  assets?: Assets
  /** What is known better of the model than the catalogue says. */
  capabilities?: CapabilityOverrides
  retry?: RetryOptions
  /** Milliseconds without a part of the model's answer; then it counts as broken. Default 600,000. */
  modelTimeoutMs?: number
  signal?: AbortSignal
  /** Told what each try used, also where the request fails. */
  onUsage?(usage: TokenUsage): void
}

/** What came of a request. */
export interface Solution<Output = unknown> {
  output: Output
  /** The model's answer as it wrote it; the last one. */
  text: string
  /** Of all tries; with `cost` in US dollars where the model's price is known. */
  usage: TokenUsage
  /** 2 where the first answer did not fit. */
  tries: number
}

const OPTIONS: OptionTable<RequestConfig> = {
  model: is.required(MODEL),
  instructions: is.string,
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
 * One model call without tools: messages in any form in, with data as the model sees it
 * there, an answer that fits the schema out. One that does not is asked for once more, with what is wrong with it.
 *
 * @param schema A Standard Schema (zod 4 …) or JSON Schema; null for the `output` of the last input message.
 * @throws ByrefError `output_invalid` where the second answer does not fit either; `config_invalid`, `invalid_message`,
 *   `schema_violation` for what cannot be asked; `model_failed`, `model_unauthorized`; the signal's reason
 */
export function request<Schema extends OutputSchema | null>(
  config: RequestConfig & { instances: true },
  schema: Schema,
  messages: readonly MessageInput[],
): Promise<Solution<Record<string, OutputOf<Schema>>>>
export function request<Schema extends OutputSchema | null>(
  config: RequestConfig,
  schema: Schema,
  messages: readonly MessageInput[],
): Promise<Solution<OutputOf<Schema>>>
export async function request(
  config: RequestConfig,
  schema: OutputSchema | null,
  messages: readonly MessageInput[],
): Promise<Solution> {
  checkOptions('request', config, OPTIONS)
  const { model } = config
  const settings = modelSettings(config.settings)
  const [{ requestPrompt }, { askOnce }] = await Promise.all([
    import('./request-prompt.ts'),
    import('./ask-once.ts'),
  ])
  const prompt = await requestPrompt(messages, { ...config, model })
  const wanted = schema ?? prompt.output
  if (!wanted) throw noSchema()
  const reader = readerOf(wanted, prompt, config)
  const ask = askOnce({ ...config, model, settings, schema: reader.schema, price: prompt.price })
  const words = [config.instructions, reader.words, outputRequest(reader.schema)]
  const asked = withSystem(words, prompt.messages)
  const first = await ask(asked)
  const read = await reader.read(first.text)
  if (read.problem === undefined) return solved(read.value, [first])
  const second = await ask([
    ...asked,
    { role: 'assistant', content: [{ type: 'text', text: first.text }] },
    { role: 'user', content: [{ type: 'text', text: outputComplaint(read.problem) }] },
  ])
  const again = await reader.read(second.text)
  if (again.problem === undefined) return solved(again.value, [first, second])
  throw new ByrefError(
    'output_invalid',
    `The model's answer does not fit the schema, also when asked again: ${again.problem}`,
  )
}

/** The words of the system, and those with which the messages begin, as one message: some providers take no more. */
function withSystem(
  words: readonly (string | undefined)[],
  messages: LanguageModelV4Prompt,
): LanguageModelV4Prompt {
  const [first, ...rest] = messages
  const isSystem = first?.role === 'system'
  const content = [...words, isSystem ? first.content : ''].filter(Boolean).join('\n\n')
  return [{ role: 'system', content }, ...(isSystem ? rest : messages)]
}

/** How an answer is asked for and read. */
interface AnswerReader {
  schema: JsonObject
  words: string
  read(text: string): Promise<ReadOutput<unknown>>
}

function readerOf(
  wanted: OutputSchema,
  { instances }: RequestPrompt,
  config: RequestConfig,
): AnswerReader {
  const one = outputJsonSchema(wanted)
  const many: InstanceAnswers | null = config.instances ? instanceAnswers(one, instances) : null
  if (many) {
    return {
      schema: many.schema,
      words: many.words,
      read: async (text) => many.read(text, (value) => refineOutput(value, wanted)),
    }
  }
  return {
    schema: one,
    words: '',
    async read(text) {
      const read = readOutput(text, one)
      return read.problem === undefined ? refineOutput(read.value, wanted) : read
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
    'A request needs a schema of its answer: give one, or an input message with `output`',
  )
}
