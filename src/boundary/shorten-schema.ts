import { mapSubschemas } from '../core/board/schema-keywords.ts'
import { cutText } from '../core/json/cut.ts'
import type { JsonSchema } from './describe-schema.ts'

/** The depths that are tried, in order. */
const DEPTHS = [8, 4, 3, 2, 1]

/** Maximum length of a description in characters, and maximum number of values of an enumeration. */
const MAX = { text: 200, values: 20 }

/** Keywords that a shortened schema keeps at every level. */
const KEPT = /^(type|\$ref|format|const|required)$/

/** Keywords that it also keeps above the last level. */
const BELOW =
  /^(properties|items|prefixItems|additionalProperties|anyOf|oneOf|allOf|\$defs|definitions)$/

/**
 * Returns a schema with at most `max` characters of JSON: the same one if it is short enough. Otherwise, only types,
 * names and short descriptions are kept, and the deepest levels are left out. It accepts all values that `schema` does.
 */
export function shortenSchema(schema: JsonSchema, max: number): JsonSchema {
  const fits = (one: JsonSchema): boolean => JSON.stringify(one).length <= max
  if (fits(schema)) return schema
  for (const depth of DEPTHS) {
    const shortened = levels(schema, depth)
    if (fits(shortened)) return shortened
  }
  const names = Object.keys(Object(schema.properties))
  const first = (count: number) => ({
    type: 'object',
    properties: Object.fromEntries(names.slice(0, count).map((name) => [name, {}])),
  })
  let count = names.length
  while (count > 0 && !fits(first(count))) count = Math.floor(count / 2)
  return first(count)
}

function levels(schema: JsonSchema, depth: number): JsonSchema {
  const kept = Object.entries(schema).filter(
    ([key]) => KEPT.test(key) || (depth > 0 && BELOW.test(key)),
  )
  const { enum: values } = schema
  const isShort = Array.isArray(values) && values.length <= MAX.values
  const shortened = {
    ...Object.fromEntries(kept),
    ...wordsOf(schema),
    ...(isShort ? { enum: values } : {}),
  }
  return mapSubschemas(shortened, (one) => levels(one, depth - 1))
}

/** Returns the description. For an enumeration that is too long, it gives some values. */
function wordsOf({ description, enum: values }: JsonSchema): { description?: string } {
  const sentences: string[] = []
  if (typeof description === 'string') sentences.push(cutText(description, MAX.text))
  if (Array.isArray(values) && values.length > MAX.values) {
    sentences.push(
      `One of ${values.length} values, such as ${cutText(values.slice(0, 3).join(', '), MAX.text)}`,
    )
  }
  return sentences.length > 0 ? { description: sentences.join('. ') } : {}
}
