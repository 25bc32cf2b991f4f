import type { JsonObject } from '../content/json.ts'
import { ByrefError } from '../errors.ts'
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

const isNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value)
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0
const isInteger = (value: unknown): boolean => Number.isSafeInteger(value)
const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')

/** What each may be, in words and as a test. */
const FORMS: Record<keyof ModelSettings, readonly [string, (value: unknown) => boolean]> = {
  maxOutputTokens: ['a positive integer', isCount],
  temperature: ['a number', isNumber],
  topP: ['a number', isNumber],
  topK: ['a positive integer', isCount],
  presencePenalty: ['a number', isNumber],
  frequencyPenalty: ['a number', isNumber],
  stopSequences: ['a list of texts', isTexts],
  seed: ['an integer', isInteger],
  reasoning: ['a level such as "low"', (value) => typeof value === 'string'],
  toolChoice: ['an object such as { type: "auto" }', isObject],
  providerOptions: ['an object by provider', isObject],
}

/**
 * The settings as plain data, without what is undefined.
 *
 * @throws ByrefError `config_invalid` for a setting that there is not, or that is of another kind
 */
export function modelSettings(given: ModelSettings = {}): ModelSettings {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined)
  for (const [key, value] of entries) {
    if (!Object.hasOwn(FORMS, key)) {
      const known = Object.keys(FORMS).join(', ')
      throw new ByrefError('config_invalid', `There is no "${key}" in settings; there are ${known}`)
    }
    const [form, fits] = FORMS[key as keyof ModelSettings]
    if (!fits(value)) {
      throw new ByrefError('config_invalid', `settings.${key} is ${form}, not ${shown(value)}`)
    }
  }
  return JSON.parse(JSON.stringify(Object.fromEntries(entries))) as ModelSettings
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

function shown(value: unknown): string {
  return JSON.stringify(value) ?? String(value)
}
