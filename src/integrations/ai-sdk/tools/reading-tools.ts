import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import { jsonSchema, type Tool, type ToolExecutionOptions } from 'ai'
import { resolveTools } from '../../../boundary/native-tools.ts'
import { jsonSchemaOf, type ToolContext } from '../../../boundary/tool.ts'
import { ToolCalls } from './tool-calls.ts'
import { type WrapOptions, wrapTool } from './wrap-tool.ts'

type Name = 'fetch_asset' | 'search_asset'

/** The tools that read long results, except where the application has a tool of that name. */
export type ReadingTools<Own> = {
  [Key in Exclude<Name, keyof Own>]: Tool<Record<string, unknown>, unknown>
}

const { tools: NATIVE } = resolveTools([], { resolveInLLM: true, reading: true })

/** Returns the tools that read assets. They return pages, so their results never become assets. */
export function readingTools(given: Pick<WrapOptions, 'assets' | 'trust'>): Record<string, Tool> {
  const { assets } = given
  const tools = NATIVE.map((tool): [string, Tool] => {
    const described = {
      description: tool.description,
      inputSchema: jsonSchema(jsonSchemaOf(tool)),
      async execute(input: unknown, { abortSignal }: ToolExecutionOptions<unknown>) {
        return tool.execute(input, { assets, signal: abortSignal } as ToolContext)
      },
    } as Tool
    const calls = { ...given, name: tool.id, tool: described, readsReferences: true }
    const options: WrapOptions = { ...calls, maxResultChars: Infinity, outputs: 'values' }
    return [tool.id, wrapTool(new ToolCalls(options), options)]
  })
  return Object.fromEntries(tools)
}

/** Returns whether a tool in a request is one of these, and not one of the application. */
export function isReadingTool({ name, description }: LanguageModelV4FunctionTool): boolean {
  const own = NATIVE.find(({ id }) => id === name)
  return own !== undefined && own.description === description
}
