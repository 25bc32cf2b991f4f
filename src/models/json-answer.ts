import type { JSONSchema7 } from '@ai-sdk/provider'
import { isPlainObject, type JsonObject, type JsonValue } from '../core/json/json.ts'
import type { ModelCallOptions } from './language-model.ts'
import type { ModelSettings } from './model-settings.ts'

/**
 * Returns the call options that request JSON that fits a schema. Objects without `additionalProperties` are
 * closed, because most providers require that. If a property is optional, OpenAI's strict mode is turned off,
 * because it does not support optional properties.
 */
export function jsonAnswer(
  schema: JsonObject,
  { providerOptions }: ModelSettings,
): Pick<ModelCallOptions, 'responseFormat' | 'providerOptions'> {
  const closed = closeObjects(schema)
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
