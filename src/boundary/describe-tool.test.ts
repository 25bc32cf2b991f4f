import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { JsonSchema, ToolSchema } from './describe-schema.ts'
import { describeTool, describeTools } from './describe-tool.ts'
import { defineTool, type Tool } from './tool.ts'

const noop = () => null
const numbers = { type: 'object', properties: { n: { type: 'number' } } } as const

const PLAIN = { outputPath: false } as const

/** Returns the description of one tool. */
function shown(tool: Tool) {
  const [only] = describeTools(new Map([[tool.id, tool]]))
  if (!only) throw new Error('it is not shown')
  return only
}

/** The names of the parameters of a tool with these options. */
function parametersOf(options: Partial<Tool>): string[] {
  const tool = defineTool({
    id: 't',
    description: '',
    execute: noop,
    ...options,
    inputSchema: numbers,
  })
  return Object.keys(shown(tool as Tool).inputSchema.properties ?? {})
}

describe('describeTools', () => {
  it('adds references to parameters that accept them, and variables to all', () => {
    const tool = defineTool({
      id: 't',
      description: 'd',
      inputSchema: z.object({
        rows: z
          .array(z.object({ n: z.number() }))
          .meta({ asset_ref_acceptable: true })
          .describe('The rows'),
        name: z.string(),
        size: z.enum(['s', 'm']).optional(),
      }),
      execute: noop,
    })
    expect(shown(tool as Tool)).toEqual({
      type: 'function',
      name: 't',
      description: 'd',
      inputSchema: {
        type: 'object',
        properties: {
          rows: {
            type: ['array', 'string'],
            items: {
              type: ['object', 'string'],
              required: ['n'],
              properties: { n: { type: ['number', 'string'] } },
            },
            description: 'The rows (or asset://…)',
          },
          name: { type: 'string' },
          size: { anyOf: [{ type: 'string', enum: ['s', 'm'] }, { type: 'string' }] },
          _outputPath: { type: 'string' },
          _outputMethod: { type: 'string' },
        },
        required: ['rows', 'name'],
      },
    })
  })

  it.each<[string, JsonSchema, JsonSchema]>([
    ['nothing said', {}, {}],
    ['text', { type: 'string' }, { type: 'string' }],
    ['several types', { type: ['number', 'null'] }, { type: ['number', 'null', 'string'] }],
    [
      'bounds of a number',
      { type: 'number', minimum: 1 },
      { type: ['number', 'string'], minimum: 1 },
    ],
    [
      'a form of text',
      { type: 'string', format: 'date', description: 'When', default: 'x' },
      {
        anyOf: [{ type: 'string', format: 'date' }, { type: 'string' }],
        description: 'When',
        default: 'x',
      },
    ],
    ['one value', { const: 1 }, { const: 1 }],
    [
      'a union',
      { oneOf: [{ type: 'number' }, { type: 'object', properties: { a: { type: 'null' } } }] },
      {
        anyOf: [
          { type: 'number' },
          { type: 'object', properties: { a: { type: ['null', 'string'] } } },
          { type: 'string' },
        ],
      },
    ],
    [
      'a union that takes text',
      { anyOf: [{ type: 'string' }, { type: 'null' }] },
      { anyOf: [{ type: 'string' }, { type: 'null' }] },
    ],
    [
      'a union beside other words',
      { anyOf: [{ minimum: 1 }], type: 'number' },
      { anyOf: [{ anyOf: [{ minimum: 1 }], type: 'number' }, { type: 'string' }] },
    ],
    [
      'all of several',
      { allOf: [{ properties: { a: { type: 'number' } } }] },
      {
        anyOf: [
          { allOf: [{ properties: { a: { type: ['number', 'string'] } } }] },
          { type: 'string' },
        ],
      },
    ],
    [
      'what it is not',
      { not: { type: 'null' } },
      { anyOf: [{ not: { type: 'null' } }, { type: 'string' }] },
    ],
    [
      'a tuple',
      { type: 'array', prefixItems: [{ type: 'number' }], items: false },
      { type: ['array', 'string'], prefixItems: [{ type: ['number', 'string'] }], items: false },
    ],
    [
      'a record',
      { type: 'object', additionalProperties: { type: 'number' } },
      { type: ['object', 'string'], additionalProperties: { type: ['number', 'string'] } },
    ],
    [
      'what only costs tokens',
      {
        type: 'object',
        propertyNames: { type: 'string' },
        additionalProperties: { type: 'integer', minimum: -9007199254740991, maximum: 9 },
      },
      {
        type: ['object', 'string'],
        additionalProperties: { type: ['integer', 'string'], maximum: 9 },
      },
    ],
    [
      'a definition, which is widened itself',
      { $ref: '#/$defs/n', asset_ref_acceptable: true },
      { $ref: '#/$defs/n', description: '(or asset://…)' },
    ],
    ['the whole again', { $ref: '#' }, { anyOf: [{ $ref: '#' }, { type: 'string' }] }],
    [
      'bytes',
      { asset_ref_acceptable: true, asset_ref_as: 'bytes' },
      { type: 'string', description: '(or asset://…)' },
    ],
    [
      'a branch that takes references',
      {
        anyOf: [{ type: 'array', asset_ref_acceptable: true }, { type: 'null' }],
        description: 'D',
      },
      {
        anyOf: [{ type: 'array', items: {} }, { type: 'null' }, { type: 'string' }],
        description: 'D (or asset://…)',
      },
    ],
  ])('widens %s', (_, schema, widened) => {
    const inputSchema = {
      type: 'object',
      properties: { p: schema },
      $defs: { n: { type: 'number' } },
    }
    const tool = defineTool({ id: 't', description: '', inputSchema, execute: noop })
    const { properties, $defs } = shown(tool as Tool).inputSchema as JsonSchema
    expect(properties).toEqual({
      p: widened,
      _outputPath: { type: 'string' },
      _outputMethod: { type: 'string' },
    })
    expect($defs).toEqual({ n: { type: ['number', 'string'] } })
  })

  it('names the fields of the result', () => {
    const customer = z.object({ id: z.string(), phones: z.array(z.string()) })
    const given = { id: 't', description: 'Finds a customer', execute: noop, inputSchema: numbers }
    const described = (options: Partial<Tool>) =>
      shown(defineTool({ ...given, outputSchema: customer, ...options } as Tool)).description
    expect(described({})).toBe('Finds a customer. Returns {"id":"string","phones":["string"]}')
    expect(described({ outputSchema: z.string() })).toBe('Finds a customer')
    // OpenAI rejects descriptions of more than 1,024 characters.
    expect(described({ description: 'x'.repeat(1_000) })).toBe('x'.repeat(1_000))
  })

  it('leaves out what the tool disables', () => {
    const own = { inputSchema: numbers, variables: false, outputPath: false }
    const tool = defineTool({ id: 't', description: '', execute: noop, ...own })
    expect(shown(tool as Tool).inputSchema).toEqual(numbers)
  })

  it('lets the model choose where a result is written, unless the tool fixes it', () => {
    expect(parametersOf({})).toEqual(['n', '_outputPath', '_outputMethod'])
    expect(parametersOf({ outputMethod: 'push' })).toEqual(['n', '_outputPath'])
    expect(parametersOf({ outputPath: true })).toEqual(['n', '_outputPath', '_outputMethod'])
    expect(parametersOf({ outputPath: false })).toEqual(['n'])
  })

  it('offers instances if a tool has them, or always writes to one path', () => {
    expect(parametersOf({ instances: true })).toEqual([
      'n',
      '_outputPath',
      '_outputMethod',
      '_instance',
    ])
    expect(parametersOf({ outputPath: '†state.x' })).toEqual(['n', '_outputMethod', '_instance'])
    expect(parametersOf({ outputPath: '†state.x', instances: false })).toEqual([
      'n',
      '_outputMethod',
    ])
  })

  it('offers mapping for tools that can be mapped', () => {
    const own = { outputPath: false } as const
    expect(parametersOf({ ...own, idempotent: true })).toEqual(['n', '_each'])
    expect(parametersOf({ ...own, mappable: true })).toEqual(['n', '_each'])
    expect(parametersOf({ ...own, idempotent: true, mappable: false })).toEqual(['n'])
  })

  it('does not require any parameter of the engine', () => {
    const inputSchema = { ...numbers, required: ['n'] }
    const tool = defineTool({
      id: 't',
      description: '',
      inputSchema,
      mappable: true,
      execute: noop,
    })
    expect(shown(tool as Tool).inputSchema.required).toEqual(['n'])
  })

  it('accepts a tool without parameters', () => {
    const inputSchema = { type: 'object' } as const
    const tool = defineTool({ id: 't', description: '', inputSchema, execute: noop })
    expect(shown(tool as Tool).inputSchema).toMatchObject({
      type: 'object',
      properties: { _outputPath: { type: 'string' }, _outputMethod: { type: 'string' } },
    })
  })

  // OpenAI and Anthropic reject every request with such a tool.
  it.each<[string, JsonSchema, JsonSchema]>([
    [
      'alternatives of required properties',
      { anyOf: [{ required: ['id'] }, { required: ['name'] }] },
      {},
    ],
    [
      'alternatives with properties of their own',
      {
        oneOf: [
          { properties: { url: { type: 'string' }, as: { const: 'a' } }, required: ['url', 'as'] },
          { $ref: '#/$defs/b' },
        ],
        $defs: { b: { properties: { as: { const: 'b' } }, required: ['as', 'n'] } },
        required: ['id'],
      },
      {
        properties: {
          url: { type: 'string' },
          id: { type: 'string' },
          name: { type: 'string' },
          as: { anyOf: [{ const: 'a' }, { const: 'b' }, { type: 'string' }] },
        },
        $defs: { b: { properties: { as: { const: 'b' } }, required: ['as', 'n'] } },
        required: ['id', 'as'],
      },
    ],
    [
      'parts that all apply',
      { allOf: [{ properties: { more: { type: 'boolean' } }, required: ['more'] }], not: {} },
      {
        properties: {
          id: { type: 'string' },
          name: { type: 'string' },
          more: { type: ['boolean', 'string'] },
        },
        required: ['more'],
      },
    ],
  ])(
    'has no keywords at the root of a schema that providers reject there: %s',
    (_, more, shows) => {
      const properties = { id: { type: 'string' }, name: { type: 'string' } }
      const inputSchema = { type: 'object', properties, ...more }
      const tool = defineTool({ id: 't', description: '', inputSchema, ...PLAIN, execute: noop })
      expect(shown(tool as Tool).inputSchema).toEqual({ type: 'object', properties, ...shows })
    },
  )

  // Anthropic rejects every request with such a tool, and OpenAI every list without `items`.
  it.each<[string, JsonSchema, JsonSchema]>([
    [
      'a tuple',
      { type: 'array', items: [{ type: 'string' }, { type: 'null' }] },
      { prefixItems: [{ type: 'string' }, { type: ['null', 'string'] }], items: {} },
    ],
    [
      'a tuple with more items',
      { type: 'array', items: [{ type: 'string' }], additionalItems: { type: 'string' } },
      {
        prefixItems: [{ type: 'string' }],
        additionalItems: { type: 'string' },
        items: { type: 'string' },
      },
    ],
    ['a list of anything', { type: 'array' }, { items: {} }],
    [
      'an exclusive limit',
      { type: 'integer', minimum: 0, exclusiveMinimum: true },
      { exclusiveMinimum: 0 },
    ],
    [
      'an inclusive limit',
      { type: 'integer', maximum: 9, exclusiveMaximum: false },
      { maximum: 9 },
    ],
    ['a property that says that it is required', { type: 'string', required: true }, {}],
  ])('uses no keywords of older drafts: %s', (_, value, shows) => {
    const inputSchema = { type: 'object', properties: { value } }
    const tool = defineTool({ id: 't', description: '', inputSchema, ...PLAIN, execute: noop })
    const type = value.type === 'string' ? 'string' : [value.type, 'string']
    expect(shown(tool as Tool).inputSchema.properties?.value).toEqual({ type, ...shows })
  })

  it('returns the tools in order, and caches them', () => {
    const tools = new Map(
      ['b', 'a'].map((id) => {
        const tool = defineTool({ id, description: id, inputSchema: numbers, execute: noop })
        return [id, tool as Tool]
      }),
    )
    expect(describeTools(tools).map(({ name }) => name)).toEqual(['b', 'a'])
    expect(describeTools(tools)).toBe(describeTools(tools))
    expect(describeTools(new Map())).toEqual([])
  })

  it('takes the schemas of libraries in which they are functions', () => {
    const properties = { n: { type: 'number' } }
    const schema = { type: 'object', properties }
    const standard: ToolSchema['~standard'] = {
      version: 1,
      vendor: 'functions',
      validate: (value) => ({ value }),
      jsonSchema: { input: () => schema, output: () => schema },
    }
    const inputSchema = Object.assign(() => {}, { '~standard': standard })
    const tool = defineTool({ id: 't', description: '', inputSchema, execute: () => null })
    expect(describeTool(tool as Tool).inputSchema.properties).toHaveProperty('n')
    const none = { id: 't', description: '', inputSchema: () => {}, execute: () => null }
    expect(() => defineTool(none as never)).toThrow('must be JSON Schema')
  })

  it('does not change the tool', () => {
    const inputSchema = { type: 'object', properties: { n: { type: 'number' } } }
    const before = JSON.stringify(inputSchema)
    shown(
      defineTool({ id: 't', description: '', inputSchema, mappable: true, execute: noop }) as Tool,
    )
    expect(JSON.stringify(inputSchema)).toBe(before)
  })
})
