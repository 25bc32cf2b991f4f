import { is, type OptionTable } from '../core/check-options.ts'
import type { JsonObject } from '../core/json/json.ts'
import type { ModelCallOptions } from './language-model.ts'

/**
 * How a model answers, by the names of the AI SDK's call options. What a model does not know its provider ignores, with a warning
 * in the debug data. Keys and headers belong to the provider, not here: settings are kept in the log.
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

/** The check of each. */
export const MODEL_SETTINGS: OptionTable<ModelSettings> = {
  ...is.all(is.count, 'maxOutputTokens', 'topK'),
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

/** The settings as plain data, without what is undefined. */
export function modelSettings(given: ModelSettings = {}): ModelSettings {
  return JSON.parse(JSON.stringify(given)) as ModelSettings
}

/** The options of a call: an agent's settings, and before them those of its run. `toolChoice` only where there are tools. */
export function callSettings(
  own: ModelSettings,
  ofRun: JsonObject | undefined,
  { hasTools }: { hasTools: boolean },
): ModelSettings {
  const { toolChoice, ...rest }: ModelSettings = { ...own, ...(ofRun as ModelSettings) }
  return hasTools && toolChoice ? { ...rest, toolChoice } : rest
}
