import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from './tool.ts'
import { toolForModel } from './tool-schema.ts'

const noop = () => null

describe('toolForModel', () => {
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
    const { name, description, inputSchema } = toolForModel(tool)
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
    const inputSchema = { type: 'object', properties: { n: { type: 'number' } } }
    const tool = defineTool({
      id: 't',
      description: '',
      inputSchema,
      variables: false,
      outputPath: false,
      execute: noop,
    })
    expect(toolForModel(tool).inputSchema).toEqual(inputSchema)
    const fixed = defineTool({ ...tool, inputSchema, outputPath: '†state.x' })
    expect(toolForModel(fixed).inputSchema.properties).not.toHaveProperty('_outputPath')
  })

  it('does not change the tool', () => {
    const inputSchema = { type: 'object', properties: { n: { type: 'number' } } }
    const before = JSON.stringify(inputSchema)
    toolForModel(defineTool({ id: 't', description: '', inputSchema, execute: noop }))
    expect(JSON.stringify(inputSchema)).toBe(before)
  })
})
