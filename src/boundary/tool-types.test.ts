import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { defineTool, type Tool, type ToolContext } from './tool.ts'

const named = { id: 'sum', description: 'Adds' }
const inputSchema = z.object({ of: z.array(z.number()) })

describe('the types of defineTool', () => {
  it('report a misspelt key, and nothing else', () => {
    const misspelt = () =>
      defineTool({
        ...named,
        inputSchema,
        // @ts-expect-error 'excute' does not exist in type 'ToolDefinition<…>'. Did you mean to write 'execute'?
        excute: () => 1,
      })
    expect(misspelt).toThrow('Did you mean "execute"?')
    const asJson = () =>
      defineTool({
        ...named,
        inputSchema: { type: 'object' },
        execute: () => 1,
        // @ts-expect-error 'needApproval' does not exist in type 'ToolDefinition<…>'.
        needApproval: true,
      })
    expect(asJson).toThrow('Did you mean "needsApproval"?')
  })

  it('infer the input from the schema, and the result from execute', () => {
    const sum = defineTool({
      ...named,
      inputSchema,
      async execute({ of }) {
        expectTypeOf(of).toEqualTypeOf<number[]>()
        return { total: of.length }
      },
    })
    expectTypeOf(sum).toEqualTypeOf<Tool<{ of: number[] }, Promise<{ total: number }>>>()
    const asJson = defineTool({
      ...named,
      inputSchema: { type: 'object' },
      execute: (input) => {
        expectTypeOf(input).toEqualTypeOf<Record<string, unknown>>()
        return 1
      },
    })
    expectTypeOf(asJson.execute).returns.toEqualTypeOf<number>()
    const tools: Tool[] = [sum, asJson]
    expect(tools).toHaveLength(2)
  })

  it('check the result by the output schema of a library', () => {
    const outputSchema = z.object({ total: z.number(), unit: z.enum(['m', 's']).optional() })
    const both = { ...named, inputSchema, outputSchema }
    defineTool({ ...both, execute: ({ of }) => ({ total: of.length, unit: 'm' as const }) })
    defineTool({ ...both, execute: async () => ({ total: 1 }) })
    defineTool({
      ...both,
      async *execute() {
        yield 'half'
        return { total: 1 }
      },
    })
    // @ts-expect-error a string is no number
    defineTool({ ...both, execute: () => ({ total: 'one' }) })
    // @ts-expect-error a promise of a string is no number
    defineTool({ ...both, execute: async () => ({ total: 'one' }) })
    defineTool({ ...named, inputSchema, outputSchema: { type: 'object' }, execute: () => 'any' })
  })

  it("let a tool declare the type of its run's context", () => {
    interface Session {
      user: string
    }
    const whoami = defineTool({
      ...named,
      inputSchema,
      execute(_, { context }: ToolContext<Session>) {
        expectTypeOf(context).toEqualTypeOf<Session>()
        return context.user
      },
    })
    const tools: Tool[] = [whoami]
    expect(tools).toHaveLength(1)
  })
})
