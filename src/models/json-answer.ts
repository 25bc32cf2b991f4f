import type { JSONSchema7 } from '@ai-sdk/provider'
import { isPlainObject, type JsonObject, type JsonValue } from '../core/json/json.ts'
import type { LanguageModel, ModelCallOptions } from './language-model.ts'
import type { ModelSettings } from './model-settings.ts'

/** The key of an answer whose schema is not that of an object. */
const KEY = 'answer'

/**
 * Returns the schema that the model's answer must fit. A value that is not an object becomes `{ answer: value }`,
 * because OpenAI, and the JSON mode of other providers, accept only objects.
 */
export function answerSchema(schema: JsonObject): JsonObject {
  if (schema.type === 'object') return schema
  const { nested, definitions } = nestedSchema(schema)
  return {
    type: 'object',
    properties: { [KEY]: nested },
    required: [KEY],
    additionalProperties: false,
    ...definitions,
  }
}

/** Returns the value in an answer that fits {@link answerSchema}. Models may also send the value alone. */
export function answerValue(answer: JsonValue, schema: JsonObject): JsonValue {
  if (schema.type === 'object' || !isPlainObject(answer)) return answer
  const [[key, value] = [], ...others] = Object.entries(answer as JsonObject)
  return key === KEY && value !== undefined && others.length === 0 ? value : answer
}

/** Returns a schema for use inside another one, and the definitions that it needs there. */
export function nestedSchema(schema: JsonObject): { nested: JsonObject; definitions: JsonObject } {
  if (!JSON.stringify(schema).includes('"$ref"')) return { nested: schema, definitions: {} }
  const output = rebased(schema)
  return { nested: { $ref: '#/$defs/output' }, definitions: { $defs: { output } } }
}

/** Adjusts `$ref`s, because they are relative to the root of the schema. */
function rebased(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(rebased)
  if (!isPlainObject(value)) return value
  const entries = Object.entries(value as JsonObject).map(([key, item]) => {
    const isPointer = key === '$ref' && typeof item === 'string' && /^#(?:\/|$)/.test(item)
    return [key, isPointer ? `#/$defs/output${item.slice(1)}` : rebased(item)]
  })
  return Object.fromEntries(entries)
}

/**
 * Whether a model rejects requests that have both tools and a schema of the answer, as Groq and Cohere do, and Gemini
 * did before version 3: https://github.com/vercel/ai/issues/10023
 */
export function rejectsToolsWithSchema({ provider, modelId }: LanguageModel): boolean {
  return /^(groq|cohere)\b/.test(provider) || /gemini-[12]\b/.test(modelId)
}

/**
 * Returns the call options that request JSON that fits {@link answerSchema}. Objects without `additionalProperties` are
 * closed, because most providers require that. If a property is optional, OpenAI's strict mode is turned off,
 * because it does not support optional properties.
 */
export function jsonAnswer(
  schema: JsonObject,
  { providerOptions }: ModelSettings,
): Pick<ModelCallOptions, 'responseFormat' | 'providerOptions'> {
  const closed = closeObjects(answerSchema(schema))
  // The schemas are of version 2020-12. The keywords used for models are the same as in draft 7.
  const responseFormat = { type: 'json', schema: closed as JSONSchema7 } as const
  if (isStrict(closed)) return { responseFormat, ...(providerOptions ? { providerOptions } : {}) }
  const loose = Object.fromEntries(
    ['openai', 'openaiCompatible'].map((name) => [
      name,
      { strictJsonSchema: false, ...providerOptions?.[name] },
    ]),
  )
  return { responseFormat, providerOptions: { ...providerOptions, ...loose } }
}

function closeObjects(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(closeObjects)
  if (!isPlainObject(value)) return value
  const entries = Object.entries(value as JsonObject).map(([key, item]) => [
    key,
    closeObjects(item),
  ])
  const copy = Object.fromEntries(entries) as Record<string, JsonValue>
  const isOpen = isObject(copy.type) && isPlainObject(copy.properties)
  return isOpen ? { additionalProperties: false, ...copy } : copy
}

/** Whether every object is closed and all its properties are required. */
function isStrict(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return true
  const { type, properties, required, additionalProperties } = value as JsonObject
  if (isObject(type)) {
    const names = Object.keys(Object(properties))
    const isWhole = Array.isArray(required) && names.every((name) => required.includes(name))
    if (additionalProperties !== false || !isWhole) return false
  }
  return Object.values(value).every(isStrict)
}

/** Whether the type of a schema allows objects: `object`, or a list such as `['object', 'null']`. */
function isObject(type: JsonValue | undefined): boolean {
  return [type].flat().includes('object')
}
