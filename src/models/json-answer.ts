import type { JSONSchema7 } from '@ai-sdk/provider'
import { mapSubschemas, type Schema } from '../core/board/schema-keywords.ts'
import { isPlainObject, type JsonObject, type JsonValue } from '../core/json/json.ts'
import type { LanguageModel, ModelCallOptions, ModelSettings } from './language-model.ts'

/** The key of an answer whose schema is not that of an object. */
const KEY = 'answer'

/** Keywords that OpenAI or Anthropic reject at the root of a schema. They then reject the whole request. */
export const NOT_AT_ROOT: ReadonlySet<string> = new Set([
  ...['anyOf', 'oneOf', 'allOf', 'not', 'enum', '$ref'],
])

/** Whether models can be asked for answers that fit the schema as it is. */
function isPlainObjectSchema(schema: JsonObject): boolean {
  return (
    schema.type === 'object' && !Object.keys(schema).some((keyword) => NOT_AT_ROOT.has(keyword))
  )
}

/**
 * Returns the schema that the model's answer must fit. A value that is not an object becomes `{ answer: value }`,
 * because OpenAI, and the JSON mode of other providers, accept only objects. OpenAI also rejects a schema with
 * alternatives at its root, so its value is wrapped, too.
 */
export function answerSchema(schema: JsonObject): JsonObject {
  if (isPlainObjectSchema(schema)) return schema
  const { nested, definitions } = nestedSchema(schema)
  return {
    type: 'object',
    properties: { [KEY]: nested },
    required: [KEY],
    additionalProperties: false,
    ...definitions,
  }
}

/** Returns an answer that fits {@link answerSchema}. */
export function wrappedAnswer(value: JsonValue, schema: JsonObject): JsonObject {
  return isPlainObjectSchema(schema) ? (value as JsonObject) : { [KEY]: value }
}

/** Returns the value in an answer that fits {@link answerSchema}. Models may also send the value alone. */
export function answerValue(answer: JsonValue, schema: JsonObject): JsonValue {
  if (isPlainObjectSchema(schema) || !isPlainObject(answer)) return answer
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
 * Whether a model rejects requests that have both tools and a schema of the answer, as Groq, Cohere and Gemma do, and
 * Gemini did before version 3: https://github.com/vercel/ai/issues/10023
 */
export function rejectsToolsWithSchema({ provider, modelId }: LanguageModel): boolean {
  if (/^(google|vertex)/.test(provider) && /gemma/.test(modelId)) return true
  return /^(groq|cohere)\b/.test(provider) || /gemini-[12]\b/.test(modelId)
}

/**
 * Returns the call options that request JSON that fits {@link answerSchema}. Objects without `additionalProperties` are
 * closed, because most providers require that. OpenAI's strict mode is turned off for schemas that it does not accept,
 * such as those with optional properties.
 */
export function jsonAnswer(
  schema: JsonObject,
  { providerOptions }: ModelSettings,
): Pick<ModelCallOptions, 'responseFormat' | 'providerOptions'> {
  const closed = closeObjects(answerSchema(schema))
  // The schemas are of version 2020-12. The keywords used for models are the same as in draft 7.
  const responseFormat = { type: 'json', schema: closed as JSONSchema7 } as const
  if (isStrict(closed)) return { responseFormat, ...(providerOptions ? { providerOptions } : {}) }
  // Azure reads the options of OpenAI if it has none of its own.
  const names = ['openai', 'openaiCompatible', 'groq', ...(providerOptions?.azure ? ['azure'] : [])]
  const loose = Object.fromEntries(
    names.map((name) => [name, { strictJsonSchema: false, ...providerOptions?.[name] }]),
  )
  return { responseFormat, providerOptions: { ...providerOptions, ...loose } }
}

/** Closes objects, except those that must fit several schemas: closed, these would exclude each other. */
function closeObjects(schema: Schema): Schema {
  const { allOf } = schema
  const closed = mapSubschemas(schema, closeObjects)
  const copy: Schema = allOf === undefined ? closed : { ...closed, allOf }
  const isAlone = ['allOf', 'anyOf', 'oneOf', '$ref', 'then', 'else'].every((key) => !(key in copy))
  const isOpen = isAlone && isObject(copy.type) && isPlainObject(copy.properties)
  return isOpen ? { additionalProperties: false, ...copy } : copy
}

/** The keywords and formats of https://developers.openai.com/api/docs/guides/structured-outputs#supported-schemas */
const STRICT_KEYWORDS = new Set(
  `type properties required additionalProperties items enum const anyOf $ref $defs description title pattern format
  multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minItems maxItems`.split(/\s+/),
)
const STRICT_FORMATS = /^(date-time|time|date|duration|email|hostname|ipv4|ipv6|uuid)$/
const LOOKAROUND = /\(\?<?[=!]/

/** Whether OpenAI's strict mode accepts a schema. It requires that objects are closed, with all properties required. */
function isStrict(schema: Schema): boolean {
  const { type, properties, required, additionalProperties, format, pattern } = schema
  const names = Object.keys(Object(properties))
  const isWhole = Array.isArray(required) && names.every((name) => required.includes(name))
  let isAccepted =
    Object.keys(schema).every((key) => STRICT_KEYWORDS.has(key)) &&
    // Only lists such as `['number', 'null']` are documented.
    [type].flat().filter((one) => one !== 'null').length <= 1 &&
    (format === undefined || STRICT_FORMATS.test(String(format))) &&
    !LOOKAROUND.test(String(pattern)) &&
    (!isObject(type) || (additionalProperties === false && isWhole))
  mapSubschemas(schema, (one) => {
    isAccepted &&= isStrict(one)
  })
  return isAccepted
}

/** Whether the type of a schema allows objects: `object`, or a list such as `['object', 'null']`. */
function isObject(type: unknown): boolean {
  return [type].flat().includes('object')
}
