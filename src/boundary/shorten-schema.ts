import { mapSubschemas } from '../core/board/schema-keywords.ts'
import { cutText } from '../core/json/cut.ts'
import type { JsonSchema } from './describe-schema.ts'

/** The numbers of levels that are tried, from the most. */
const DEPTHS = [8, 4, 3, 2, 1]
/** Characters of a description, and values of an enumeration. */
const MOST = { text: 200, values: 20 }

/** What a shortened schema has at every level. */
const KEPT = /^(type|\$ref|format|const|required)$/
/** What it also has above the last level. */
const BELOW =
  /^(properties|items|prefixItems|additionalProperties|anyOf|oneOf|allOf|\$defs|definitions)$/

/**
 * Returns a schema with at most this many characters of JSON: the same one if it is short enough. Otherwise only types,
 * names and short descriptions are left, and the deepest levels are left out. It accepts all values of the given one.
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
  const isShort = Array.isArray(values) && values.length <= MOST.values
  const made = {
    ...Object.fromEntries(kept),
    ...wordsOf(schema),
    ...(isShort ? { enum: values } : {}),
  }
  return mapSubschemas(made, (one) => levels(one, depth - 1))
}

/** Returns the description, which also tells of an enumeration that is too long. */
function wordsOf({ description, enum: values }: JsonSchema): { description?: string } {
  const told: string[] = []
  if (typeof description === 'string') told.push(cutText(description, MOST.text))
  if (Array.isArray(values) && values.length > MOST.values) {
    told.push(
      `One of ${values.length} values, such as ${cutText(values.slice(0, 3).join(', '), MOST.text)}`,
    )
  }
  return told.length > 0 ? { description: told.join('. ') } : {}
}
