import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from './tool.ts'
import { loadValidator, schemaIssues, validateInput } from './validate.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

describe('schemaIssues', () => {
  it('accepts schemas of draft 7, which many libraries and MCP servers make', async () => {
    await loadValidator()
    const point = { type: 'array', items: [{ type: 'number' }, { type: 'number' }] }
    const schema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { at: { $ref: '#/definitions/point' } },
      definitions: { point: { ...point, additionalItems: false } },
    }
    expect(schemaIssues(schema, { at: [1, 2] })).toEqual([])
    const wrong = [{ at: [1, 'a'] }, { at: [1, 2, 3] }]
    expect(wrong.map((one) => schemaIssues(schema, one)[0]?.instancePath)).toEqual(['/at/1', '/at'])
  })

  it.each([
    ['a repetition in a repetition', { pattern: '^((((a+)+)+)+)+$' }, `${'a'.repeat(28)}!`],
    ['counted repetitions', { pattern: '^(a{1,30}){12}$' }, `${'a'.repeat(100)}!`],
    ['alternatives that are equal', { pattern: '^(a|a)*$' }, `${'a'.repeat(60)}!`],
    [
      'references that multiply',
      {
        $ref: '#/$defs/d30',
        $defs: Object.fromEntries(
          Array.from({ length: 31 }, (_, i) => {
            const below = { $ref: `#/$defs/d${i - 1}` }
            return [`d${i}`, i === 0 ? { type: 'string' } : { allOf: [below, below] }]
          }),
        ),
      },
      'a',
    ],
    [
      'a key',
      { patternProperties: { '^(a+)+$': { type: 'string' } } },
      { [`${'a'.repeat(60)}!`]: 1 },
    ],
  ])('stops a check that takes too long: %s', async (_, schema, value) => {
    await loadValidator()
    expect(schemaIssues(schema, value)).toMatchObject([{ keyword: 'time' }])
  })

  it('checks patterns and references that are fast', async () => {
    await loadValidator()
    const email = { pattern: '^[^@ ]+@[^@ ]+\\.[^@ ]+$' }
    const long = `${'a'.repeat(3_000)}@example.org`
    expect(schemaIssues(email, long)).toEqual([])
    expect(schemaIssues(email, `${long} `)).toMatchObject([{ keyword: 'pattern' }])
    const tree = {
      type: 'object',
      properties: { children: { type: 'array', items: { $ref: '#' } }, name: { type: 'string' } },
    }
    expect(schemaIssues(tree, { children: [{ name: 'a' }, { children: [] }] })).toEqual([])
    const [issue] = schemaIssues(tree, { children: [{ children: [{ name: 1 }] }] })
    expect(issue?.instancePath).toBe('/children/0/children/0/name')
  })

  it('checks unique items in linear time, whatever the order of their keys', async () => {
    await loadValidator()
    const schema = { type: 'array', uniqueItems: true }
    const items = Array.from({ length: 50_000 }, (_, i) => ({ i, name: `item ${i}` }))
    expect(schemaIssues(schema, items)).toEqual([])
    const [issue] = schemaIssues(schema, [...items, { name: 'item 7', i: 7 }])
    expect(issue?.message).toBe('must NOT have duplicate items (items 7 and 50000 are equal)')
    expect(schemaIssues({ ...schema, uniqueItems: false }, [1, 1])).toEqual([])
    expect(schemaIssues(schema, [1n, 2n])).toEqual([])
    expect(schemaIssues(schema, [1, '1', null, 'null', [1], ['1']])).toEqual([])
  })

  it('rejects schemas that take seconds to compile', async () => {
    await loadValidator()
    let nested: Record<string, unknown> = { type: 'string' }
    for (let i = 0; i < 14; i++) nested = { anyOf: [nested, nested] }
    expect(() => schemaIssues(nested, 'a')).toThrow('more than 5000 subschemas')
  })

  it('does not take inherited properties for given ones', async () => {
    await loadValidator()
    const properties = { constructor: { type: 'string' }, toString: { type: 'string' } }
    expect(schemaIssues({ type: 'object', properties }, {})).toEqual([])
    const required = { type: 'object', required: ['toString'] }
    expect(schemaIssues(required, {})).toHaveLength(1)
  })

  it('ignores the keyword with which ajv makes validators asynchronous', async () => {
    await loadValidator()
    const schema = { $async: true, type: 'object' }
    expect(schemaIssues(schema, {})).toEqual([])
    expect(schemaIssues(schema, 1)).toHaveLength(1)
    const inside = { type: 'object', properties: { a: { $async: true, type: 'string' } } }
    expect(() => schemaIssues(inside, { a: 'b' })).toThrow('async schema')
  })

  it('accepts schemas of draft 4, as in OpenAPI 3.0', async () => {
    await loadValidator()
    const price = { id: 'price', type: 'number', minimum: 0, exclusiveMinimum: true }
    const rate = { type: 'number', maximum: 1, exclusiveMaximum: false }
    const schema = {
      id: 'http://example.com/order.json',
      $schema: 'http://json-schema.org/draft-04/schema#',
      type: 'object',
      properties: { id: { type: 'string' }, price, rates: { type: 'array', items: rate } },
    }
    expect(schemaIssues(schema, { id: 'x', price: 0.1, rates: [1] })).toEqual([])
    const issues = schemaIssues(schema, { id: 1, price: 0, rates: [2] })
    expect(issues.map(({ message }) => message)).toEqual([
      'must be string',
      'must be > 0',
      'must be <= 1',
    ])
  })

  it('does not keep the schemas of earlier requests', async () => {
    await loadValidator()
    const used = Array.from({ length: 500 }, () => {
      const properties = { amount: { type: 'number' } }
      expect(schemaIssues({ type: 'object', properties }, { amount: '1' })).toHaveLength(1)
      return new WeakRef(properties)
    })
    await new Promise((resolve) => setTimeout(resolve))
    collect()
    expect(used.filter((one) => one.deref()).length).toBeLessThan(250)
  })
})

describe('validateInput', () => {
  const tool = (inputSchema: object) =>
    defineTool({ id: 'pay', description: 'Pays', inputSchema: inputSchema as never })

  it.each([
    [
      z.object({ sum: z.number() }),
      { sum: 'x' },
      '"pay" do not match its schema: /sum: Invalid input',
    ],
    [z.object({ sum: z.number() }), 'x', 'schema: Invalid input: expected object'],
    [{ type: 'object', required: ['sum'] }, {}, "schema: must have required property 'sum'"],
    [
      { type: 'object', properties: { sum: { type: 'number' } } },
      { sum: 'x' },
      'schema: /sum must be number',
    ],
  ])('names the path and the reason', async (schema, value, message) => {
    const error = { code: 'invalid_arguments', message: expect.stringContaining(message) }
    await expect(validateInput(tool(schema), value)).rejects.toMatchObject(error)
  })
})

describe('a schema that cannot be compiled', () => {
  const withPattern = (pattern: string) => ({
    type: 'object',
    properties: { a: { type: 'string', pattern } },
  })

  it('lets all arguments pass, with one warning, because servers write patterns of other languages', async () => {
    const warnings: string[] = []
    const note = ({ message }: Error): number => warnings.push(message)
    process.on('warning', note)
    const tool = defineTool({
      id: 'find',
      description: '',
      execute: () => null,
      inputSchema: withPattern('(?i)x'),
    })
    expect(await validateInput(tool, { a: 'y' })).toEqual({ a: 'y' })
    await validateInput(tool, { a: 1 })
    await new Promise(setImmediate)
    process.off('warning', note)
    expect(warnings).toEqual([
      expect.stringContaining(
        'The arguments of "find" are not checked, because its schema is invalid',
      ),
    ])
  })

  it('is rejected by defineTool if a type is misspelt', () => {
    const properties = { list: { type: 'array', items: { type: ['strng', 'null'] } } }
    const define = () =>
      defineTool({
        id: 'find',
        description: '',
        execute: () => null,
        inputSchema: { type: 'object', properties },
      })
    expect(define).toThrow(
      'inputSchema of the tool "find" has the type "strng". Did you mean "string"?',
    )
  })
})
