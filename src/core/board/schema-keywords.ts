import { isPlainObject } from '../json/json.ts'

/** A JSON Schema (2020-12), or a part of one, as plain data. */
export type Schema = { readonly [keyword: string]: unknown }

/** Keywords whose value has schemas by name. */
const NAMED = /^(properties|patternProperties|dependentSchemas|\$defs|definitions)$/

/** Keywords whose value is a schema or a list of schemas. */
const HOLDING =
  /^(items|prefixItems|unevaluatedItems|contains|additionalProperties|unevaluatedProperties|anyOf|oneOf|allOf|then|else)$/

/** Whether a value is a schema with keywords. `true` and `false` are schemas too, but not of this kind. */
export function isSchema(value: unknown): value is Schema {
  return isPlainObject(value)
}

const LIMITS = [
  ['minimum', 'exclusiveMinimum'],
  ['maximum', 'exclusiveMaximum'],
] as const

/**
 * Converts keywords of older drafts in a schema, but not in its subschemas. Draft 7 has the schemas of a tuple under
 * `items`, and draft 4 has booleans that exclude `minimum` and `maximum`.
 */
export function inCurrentDraft(schema: Schema): Schema {
  const current: Record<string, unknown> = { ...schema }
  const { items, additionalItems = {} } = schema
  if (Array.isArray(items)) Object.assign(current, { prefixItems: items, items: additionalItems })
  for (const [limit, exclusive] of LIMITS) {
    const excludes = schema[exclusive]
    if (typeof excludes !== 'boolean') continue
    delete current[exclusive]
    if (!excludes || schema[limit] === undefined) continue
    current[exclusive] = schema[limit]
    delete current[limit]
  }
  return current
}

/**
 * Changes each direct subschema, except those of `not`, `if` and `propertyNames`, which do not apply to a
 * value by themselves. Other keywords (`enum`, `default`, `required` …) stay unchanged.
 */
export function mapSubschemas(schema: Schema, change: (schema: Schema) => unknown): Schema {
  const each = (one: unknown): unknown => {
    if (Array.isArray(one)) return one.map(each)
    return isPlainObject(one) ? change(one) : one
  }
  return mapEntries(schema, (value, keyword) => {
    if (NAMED.test(keyword)) return isPlainObject(value) ? mapEntries(value, each) : value
    return HOLDING.test(keyword) ? each(value) : value
  })
}

function mapEntries(schema: Schema, change: (value: unknown, key: string) => unknown): Schema {
  return Object.fromEntries(Object.entries(schema).map(([key, one]) => [key, change(one, key)]))
}

/**
 * Like {@link mapSubschemas}. Also tells whether a subschema applies to the same value (`anyOf`, `oneOf`,
 * `allOf`, `then`, `else`), as opposed to entries and definitions.
 */
export function mapParts(
  schema: Schema,
  change: (schema: Schema, isBranch: boolean) => unknown,
): Schema {
  return mapEntries(schema, (value, keyword) => {
    const isBranch = /Of$|^then$|^else$/.test(keyword)
    return mapSubschemas({ [keyword]: value }, (one) => change(one, isBranch))[keyword]
  })
}
