import type { JSONSchema7 } from '@ai-sdk/provider'
import { isPlainObject, type JsonObject, type JsonValue } from '../core/json/json.ts'
import type { ModelCallOptions } from './language-model.ts'
import type { ModelSettings } from './model-settings.ts'

/**
 * The options that ask for JSON by a schema, of providers that can hold a model to it. Objects are closed where the schema
 * leaves it open, as most of them demand; where a property may be absent, which OpenAI's strict mode does not know, that
 * is turned off.
 */
export function jsonAnswer(
  schema: JsonObject,
  { providerOptions }: ModelSettings,
): Pick<ModelCallOptions, 'responseFormat' | 'providerOptions'> {
  const closed = closeObjects(schema)
  // Our schemas are of 2020-12, of which draft 7 is a part in what models are given.
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
  const isOpen = copy.type === 'object' && isPlainObject(copy.properties)
  return isOpen ? { additionalProperties: false, ...copy } : copy
}

/** Whether every object is closed and all its properties must be there. */
function isStrict(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return true
  const { type, properties, required, additionalProperties } = value as JsonObject
  if (type === 'object') {
    const names = Object.keys(Object(properties))
    const isWhole = Array.isArray(required) && names.every((name) => required.includes(name))
    if (additionalProperties !== false || !isWhole) return false
  }
  return Object.values(value).every(isStrict)
}
