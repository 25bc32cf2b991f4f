import { describe, expect, it } from 'vitest'
import { mapParts, mapSubschemas } from './schema-keywords.ts'

const one = { type: 'null' }
const named = { a: one, required: one }

const branches = Object.fromEntries(['then', 'else'].map((keyword) => [keyword, one]))

/** Every keyword of 2020-12 that contains schemas of a value or its parts, and some that do not. */
const ALL = {
  properties: named,
  patternProperties: named,
  dependentSchemas: named,
  $defs: named,
  definitions: named,
  additionalProperties: one,
  unevaluatedProperties: one,
  items: one,
  unevaluatedItems: one,
  contains: one,
  prefixItems: [one, true],
  anyOf: [one],
  oneOf: [one],
  allOf: [one],
  ...branches,
}
const STAYS = {
  not: one,
  if: one,
  propertyNames: one,
  default: one,
  const: one,
  enum: [one],
  examples: [one],
  required: ['a'],
  maxItems: 1,
  minProperties: 2,
  type: 'object',
  additionalItems: false,
  pattern: 'x',
  description: 'one',
}

describe('mapSubschemas', () => {
  it('changes every direct subschema, and nothing else', () => {
    const changed = JSON.stringify(mapSubschemas({ ...ALL, ...STAYS }, () => 'changed'))
    const expected = JSON.stringify(ALL).replaceAll(JSON.stringify(one), '"changed"')
    expect(JSON.parse(changed)).toEqual({ ...JSON.parse(expected), ...STAYS })
  })

  it('keeps names such as __proto__', () => {
    const schema = JSON.parse('{"properties": {"__proto__": {"a": 1}}}')
    expect(JSON.stringify(mapSubschemas(schema, () => 'x'))).toBe(
      '{"properties":{"__proto__":"x"}}',
    )
  })
})

describe('mapParts', () => {
  it('visits the schemas that apply to the same value', () => {
    const changed = mapParts(ALL, (_, isBranch) => isBranch)
    const same = Object.keys(changed).filter((key) => [changed[key]].flat().includes(true))
    expect(same).toEqual(['prefixItems', 'anyOf', 'oneOf', 'allOf', 'then', 'else'])
    expect(changed.prefixItems).toEqual([false, true])
  })
})
