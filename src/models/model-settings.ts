import { called } from '../core/called.ts'
import { is, type OptionTable } from '../core/check-options.ts'
import type { ModelCallOptions } from './language-model.ts'

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

/** Returns the options of a call. `toolChoice` is included only if there are tools. */
export function callSettings(
  { toolChoice, ...rest }: ModelSettings,
  { hasTools }: { hasTools: boolean },
): ModelSettings {
  return hasTools && toolChoice ? { ...rest, toolChoice } : rest
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
