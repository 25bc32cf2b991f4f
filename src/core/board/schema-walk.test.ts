import { describe, expect, it } from 'vitest'
import type { Schema } from './schema-keywords.ts'
import { schemaWalk } from './schema-walk.ts'

/** Returns the titles of the schemas for an entry of a value. */
function titles(schema: Schema, value: object, ...path: (string | number)[]): unknown[] {
  const walk = schemaWalk(schema)
  let found = walk.root
  let current: unknown = value
  for (const key of path) {
    found = walk.entries(found, current as object)(key)
    current = (current as Record<string, unknown>)[key]
  }
  return found.map(({ title }) => title)
}

const t = (title: string): Schema => ({ title })

describe('schemaWalk', () => {
  it('returns one flat schema for each branch, including the keywords around it', () => {
    const schema = {
      description: 'D',
      $ref: '#/$defs/a',
      anyOf: [{ title: 'x' }, { oneOf: [{ title: 'y' }, { title: 'z', description: 'own' }] }],
      $defs: { a: { type: 'object', allOf: [{ required: ['p'] }, { required: ['q'] }] } },
    }
    const shared = { type: 'object', required: ['p', 'q'] }
    expect(schemaWalk(schema).root).toEqual([
      { ...shared, description: 'D', title: 'x' },
      { ...shared, description: 'D', title: 'y' },
      { ...shared, description: 'own', title: 'z' },
    ])
    expect(schemaWalk(schema)).toBe(schemaWalk(schema))
  })

  it('selects the branch by type, then by constants, then by required fields', () => {
    const branch = (title: string, more: object): Schema => {
      const { properties, ...rest } = more as { properties?: object }
      return { type: 'object', properties: { p: t(title), ...properties }, ...rest }
    }
    const anyOf = [
      { type: 'array', items: t('item') },
      branch('a', { properties: { kind: { const: 'a' } } }),
      branch('b', { properties: { kind: { enum: ['b', 'c'] } } }),
      branch('needs q', { properties: { kind: { enum: ['b', 'c'] } }, required: ['q'] }),
    ]
    expect(titles({ anyOf }, [1], 0)).toEqual(['item'])
    expect(titles({ anyOf }, { kind: 'a', p: 1 }, 'p')).toEqual(['a'])
    expect(titles({ anyOf }, { kind: 'c', p: 1, q: 1 }, 'p')).toEqual(['b', 'needs q'])
    expect(titles({ anyOf }, { kind: 'c', p: 1 }, 'p')).toEqual(['b'])
    // What matches no branch may be anything that its type allows.
    expect(titles({ anyOf }, { kind: 'd', p: 1, q: 1 }, 'p')).toEqual(['a', 'b', 'needs q'])
  })

  it('finds the entries of tuples and records, and combines all schemas of an entry', () => {
    const tuple = { prefixItems: [t('first')], items: t('rest') }
    expect(titles(tuple, [1, 2, 3], 0)).toEqual(['first'])
    expect(titles(tuple, [1, 2, 3], 2)).toEqual(['rest'])
    const older = { items: [t('first')], additionalItems: t('rest') }
    expect(titles(older, [1, 2], 0)).toEqual(['first'])
    expect(titles(older, [1, 2], 1)).toEqual(['rest'])
    expect(titles({ unevaluatedProperties: t('other') }, { b: 1 }, 'b')).toEqual(['other'])
    const dependent = { dependentSchemas: { a: { properties: { b: t('b') } } } }
    expect(titles(dependent, { a: 1, b: 1 }, 'b')).toEqual(['b'])
    const record = {
      properties: { a: t('a'), ['__proto__']: t('p') },
      patternProperties: { '^x': t('x') },
      additionalProperties: t('other'),
    }
    const value = JSON.parse('{"a": 1, "x1": 1, "b": 1, "__proto__": 1}')
    expect(['a', 'x1', 'b', '__proto__'].flatMap((key) => titles(record, value, key))).toEqual([
      ...['a', 'x', 'other', 'p'],
    ])
    const all = { allOf: [{ properties: { a: { type: 'null' } } }, { properties: { a: t('a') } }] }
    const walk = schemaWalk(all)
    expect(walk.entries(walk.root, { a: 1 })('a')).toEqual([{ type: 'null', title: 'a' }])
    expect(titles({ properties: { a: true, b: false } }, { a: 1 }, 'a')).toEqual([])
  })

  it('follows recursive schemas as deep as the value', () => {
    const schema = {
      title: 'node',
      properties: { kids: { items: { $ref: '#' } }, same: { $ref: '#/properties/kids' } },
    }
    expect(titles(schema, { kids: [{ kids: [{}] }] }, 'kids', 0, 'kids', 0)).toEqual(['node'])
    expect(titles(schema, { same: [{}] }, 'same', 0)).toEqual(['node'])
  })

  it('stops if references are cyclic, lead nowhere or branch without limit', () => {
    expect(schemaWalk({ $ref: '#' }).root).toEqual([])
    expect(schemaWalk({ title: 'a', $ref: '#/none' }).root).toEqual([t('a')])
    expect(schemaWalk({ title: 'a', $ref: 'https://x/y' }).root).toEqual([t('a')])
    const two = { anyOf: [t('x'), t('y')] }
    const allOf = Array.from({ length: 40 }, () => two)
    expect(schemaWalk({ allOf }).root.length).toBeLessThanOrEqual(200)
    const doubling = Array.from({ length: 60 }, (_, i) => {
      const next = { $ref: `#/$defs/d${i + 1}` }
      return [`d${i}`, { anyOf: [next, next] }]
    })
    const bomb = { $ref: '#/$defs/d0', $defs: { ...Object.fromEntries(doubling), d60: t('end') } }
    expect(schemaWalk(bomb).root.length).toBeLessThanOrEqual(200)
  })
})
