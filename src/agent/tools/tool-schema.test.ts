import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool, type Tool } from './tool.ts'
import { toolsForModel } from './tool-schema.ts'

const noop = () => null
const numbers = { type: 'object', properties: { n: { type: 'number' } } } as const

/** How one tool is shown. */
function shown(tool: Tool) {
  const [only] = toolsForModel(new Map([[tool.id, tool]]))
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

describe('toolsForModel', () => {
  it('shows references where a parameter takes them, and variables everywhere', () => {
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
    const { name, description, inputSchema } = shown(tool as Tool)
    expect([name, description]).toEqual(['t', 'd'])
    const properties = inputSchema.properties as Record<string, Record<string, unknown>>
    expect(properties.rows?.description).toMatch(
      /^The rows Pass large values by reference: an asset reference .* or a variable/,
    )
    expect(properties.rows?.anyOf).toMatchObject([{ type: 'array' }, { type: 'string' }])
    expect(properties.name).toEqual({ type: 'string' })
    expect(properties.size?.anyOf).toMatchObject([{ enum: ['s', 'm'] }, { type: 'string' }])
    expect(properties._outputPath).toMatchObject({ type: 'string' })
    expect(inputSchema.required).toEqual(['rows', 'name'])
    expect(JSON.stringify(inputSchema)).not.toContain('asset_ref_acceptable')
    expect(JSON.stringify(inputSchema)).not.toContain('$schema')
  })

  it('leaves out what the tool does not want', () => {
    const own = { inputSchema: numbers, variables: false, outputPath: false }
    const tool = defineTool({ id: 't', description: '', execute: noop, ...own })
    expect(shown(tool as Tool).inputSchema).toEqual(numbers)
  })

  it('lets the model choose where and how a result is written, unless the tool says it', () => {
    expect(parametersOf({})).toEqual(['n', '_outputPath', '_outputMethod'])
    expect(parametersOf({ outputPath: true })).toEqual(['n', '_outputPath', '_outputMethod'])
    expect(parametersOf({ outputMethod: 'push' })).toEqual(['n', '_outputPath'])
    expect(parametersOf({ outputPath: '†state.x' })).toEqual(['n'])
    expect(parametersOf({ outputPath: false })).toEqual(['n'])
  })

  it('offers mapping on what can be mapped', () => {
    const own = { outputPath: false } as const
    expect(parametersOf({ ...own, idempotent: true })).toEqual(['n', '_each'])
    expect(parametersOf({ ...own, mappable: true })).toEqual(['n', '_each'])
    expect(parametersOf({ ...own, idempotent: true, mappable: false })).toEqual(['n'])
  })

  it('asks for none of the engine’s parameters', () => {
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

  it('takes a tool without parameters', () => {
    const inputSchema = { type: 'object' } as const
    const tool = defineTool({ id: 't', description: '', inputSchema, execute: noop })
    expect(shown(tool as Tool).inputSchema).toMatchObject({
      type: 'object',
      properties: { _outputPath: { type: 'string' } },
    })
  })

  it('shows the tools in their order, worked out once', () => {
    const tools = new Map(
      ['b', 'a'].map((id) => {
        const tool = defineTool({ id, description: id, inputSchema: numbers, execute: noop })
        return [id, tool as Tool]
      }),
    )
    expect(toolsForModel(tools).map(({ name }) => name)).toEqual(['b', 'a'])
    expect(toolsForModel(tools)).toBe(toolsForModel(tools))
    expect(toolsForModel(new Map())).toEqual([])
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
