import type {
  LanguageModelV3,
  LanguageModelV3Prompt,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolResultOutput,
} from '@ai-sdk/provider'
import { called } from '../core/called.ts'
import { type Check, is, type OptionTable } from '../core/check-options.ts'

/** An AI SDK model object, not a name, from any provider package with provider interface v3 or v4. */
export type LanguageModel = LanguageModelV4 | LanguageModelV3

/** The check of an option that takes a model. */
export const MODEL: Check<LanguageModel> = is.checked(
  'an AI SDK model (provider interface v3 or v4), such as openai("gpt-5-mini") from @ai-sdk/openai',
  (value) => {
    const { doStream, specificationVersion } = Object(value) as Partial<LanguageModel>
    return typeof doStream === 'function' && /^v[34]$/.test(String(specificationVersion))
  },
)

/** The options of one model call. The prompt has the form of provider interface v4. */
export type ModelCallOptions = LanguageModelV4CallOptions

/** One part of a streamed answer. */
export type ModelStreamPart = LanguageModelV4StreamPart

/** Opens the stream of one call, for a model of either interface version. */
export async function streamModel(
  model: LanguageModel,
  options: ModelCallOptions,
): Promise<ReadableStream<ModelStreamPart>> {
  if (model.specificationVersion === 'v4') return (await model.doStream(options)).stream
  const { prompt, ...rest } = options
  // v3 and v4 represent files in prompts differently. Settings and stream parts are the same in both; parts
  // that differ otherwise are never sent here.
  const result = await model.doStream({
    ...(rest as Omit<Parameters<LanguageModelV3['doStream']>[0], 'prompt'>),
    prompt: toV3(prompt),
  })
  return result.stream as ReadableStream<ModelStreamPart>
}

function toV3(prompt: LanguageModelV4Prompt): LanguageModelV3Prompt {
  return prompt.map((message: LanguageModelV4Message) => {
    if (message.role === 'user') {
      const content = message.content.map((part) =>
        part.type === 'file' ? { ...part, data: bareData(part.data) } : part,
      )
      return { ...message, content }
    }
    if (message.role !== 'tool') return message
    const content = message.content.map((part) =>
      part.type === 'tool-result' && part.output.type === 'content'
        ? { ...part, output: { ...part.output, value: part.output.value.map(resultPart) } }
        : part,
    )
    return { ...message, content }
  }) as LanguageModelV3Prompt
}

type FileData = LanguageModelV4FilePart['data']

function bareData(data: FileData): string | Uint8Array | URL {
  if (data.type === 'data') return data.data
  if (data.type === 'url') return data.url
  throw new TypeError(`A v3 model cannot receive a file of type "${data.type}"`)
}

type Content = Extract<LanguageModelV4ToolResultOutput, { type: 'content' }>['value'][number]

/**
 * Converts a part of a tool result. In v3 its type distinguishes images from other files, and base64 from
 * URLs.
 */
function resultPart(part: Content): unknown {
  if (part.type !== 'file') return part
  const { data, mediaType, filename, providerOptions } = part
  const kind = mediaType.startsWith('image') ? 'image' : 'file'
  const options = providerOptions ? { providerOptions } : {}
  const bare = bareData(data)
  if (bare instanceof URL) return { type: `${kind}-url`, url: bare.href, ...options }
  const text = typeof bare === 'string' ? bare : Buffer.from(bare).toString('base64')
  const named = kind === 'file' && filename !== undefined ? { filename } : {}
  return { type: `${kind}-data`, data: text, mediaType, ...named, ...options }
}

/**
 * Settings for a model's answers, with the names of the AI SDK's call options. Providers ignore settings that a model
 * does not support, with a warning in the debug data. Settings are stored in the log, so set API keys and headers in
 * the provider instead.
 */
export type ModelSettings = Pick<
  ModelCallOptions,
  | 'maxOutputTokens'
  | 'temperature'
  | 'topP'
  | 'topK'
  | 'presencePenalty'
  | 'frequencyPenalty'
  | 'stopSequences'
  | 'seed'
  | 'reasoning'
  | 'toolChoice'
  | 'providerOptions'
>

/** The checks of the settings. */
export const MODEL_SETTINGS: OptionTable<ModelSettings> = {
  maxOutputTokens: called(is.count, 'maxTokens'),
  topK: is.count,
  ...is.all(is.finite, 'temperature', 'topP', 'presencePenalty', 'frequencyPenalty'),
  stopSequences: is.listOf(is.string),
  seed: is.integer,
  reasoning: is.checked('a level such as "low"', (value) => typeof value === 'string'),
  toolChoice: is.group({
    type: is.required(is.oneOf('auto', 'none', 'required', 'tool')),
    toolName: is.string,
  }),
  providerOptions: is.having('an object by provider'),
}

/** Returns the settings as plain data, without undefined values. */
export function modelSettings(given: ModelSettings = {}): ModelSettings {
  return JSON.parse(JSON.stringify(given)) as ModelSettings
}

/** How a model call that failed before the first part of its answer is retried. */
export interface RetryOptions {
  /** Maximum number of retries. Default 2. */
  maxRetries?: number
  /**
   * Pause before the first retry, in milliseconds. It doubles with each retry. Default 500. A time that
   * the provider asks for (`retry-after`, `retry-after-ms`) takes precedence.
   */
  retryDelayMs?: number
}

export const RETRY_OPTIONS: OptionTable<RetryOptions> = {
  maxRetries: is.wholeNumber,
  retryDelayMs: is.notNegative,
}
