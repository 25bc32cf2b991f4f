import { describe, expect, it } from 'vitest'
import { parametersOf } from './schema-parameters.ts'

describe('parametersOf', () => {
  it('lists parameters with their types, also inside objects and lists', () => {
    const schema = {
      type: 'object',
      properties: {
        id: { type: ['integer', 'string'], description: 'The id' },
        state: { anyOf: [{ enum: ['open', 'closed'] }, { type: 'string' }] },
        to: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        rows: { type: 'array', items: { type: 'object', properties: { n: { const: 1 } } } },
        tags: { type: 'array', items: { type: ['string', 'null'] } },
        node: { $ref: '#/$defs/Node' },
      },
      required: ['id'],
    }
    const rows = parametersOf(schema)
    expect(rows.map(({ name, type, required }) => [name, type, required])).toEqual([
      ['id', 'integer | string', true],
      ['state', 'enum | string', false],
      ['to', 'object', false],
      ['to.city', 'string', true],
      ['rows', 'object[]', false],
      ['rows[].n', 'enum', false],
      ['tags', '(string | null)[]', false],
      ['node', 'Node', false],
    ])
    expect(rows[0]?.description).toBe('The id')
    expect(rows[1]?.values).toEqual(['"open"', '"closed"'])
    expect(rows[5]?.values).toEqual(['1'])
  })

  it('accepts any schema, and stops in schemas of any depth', () => {
    expect([null, 7, {}, { properties: 'x' }].flatMap((one) => parametersOf(one))).toEqual([])
    const deep: Record<string, unknown> = { type: 'object' }
    deep.properties = { next: deep }
    expect(parametersOf(deep).map(({ name }) => name)).toEqual([
      'next',
      'next.next',
      'next.next.next',
    ])
  })
})
