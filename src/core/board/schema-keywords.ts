import { isPlainObject } from '../json/json.ts'

/** A JSON Schema (2020-12), or a part of one, as plain data. */
export type Schema = { readonly [keyword: string]: unknown }

/** Keywords that hold schemas by names. */
const NAMED = /^(properties|patternProperties|dependentSchemas|\$defs|definitions)$/

/** Keywords that hold a schema or a list of them. */
const HOLDING =
  /^(items|prefixItems|unevaluatedItems|contains|additionalProperties|unevaluatedProperties|anyOf|oneOf|allOf|then|else)$/

/** Whether a part of a schema is a schema with keywords; true and false, which are schemas too, are not. */
export function isSchema(value: unknown): value is Schema {
  return isPlainObject(value)
}

/**
 * The schema with each schema right below it changed, but for those of `not`, `if` and `propertyNames`, which bind no value
 * by themselves. What is no schema (`enum`, `default`, `required` …) stays.
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
 * As {@link mapSubschemas}, and tells the schemas of the same value (`anyOf`, `oneOf`, `allOf`, `then`, `else`) from those
 * of its entries and from definitions.
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
