import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import { jsonSchema, type Tool } from 'ai'
import type { Assets } from '../../../assets/assets-contract.ts'
import { resolveTools } from '../../../boundary/native-tools.ts'
import { jsonSchemaOf, type ToolContext } from '../../../boundary/tool.ts'
import type { GuardOptions } from '../trust/guarded-call.ts'
import { wrapTool } from './wrap-tool.ts'

type Name = 'fetch_asset' | 'search_asset'

/** The tools that long results are read by, but for those of the application's own with these names. */
export type ReadingTools<Own> = {
  [Key in Exclude<Name, keyof Own>]: Tool<Record<string, unknown>, unknown>
}

/** The tools that read assets, as tools of the AI SDK; they page, so that what they give is never an asset again. */
export function readingTools(
  assets: Assets,
  guard: GuardOptions | null = null,
): {
  tools: Record<string, Tool>
  /** Whether a tool that a model is to be shown is one of them, and none of the application's own. */
  isOwn(tool: LanguageModelV4FunctionTool): boolean
} {
  const { tools: native } = resolveTools([], { resolveInLLM: true, reading: true })
  const tools = native.map((tool): [string, Tool] => {
    const described: Tool = {
      description: tool.description,
      inputSchema: jsonSchema(jsonSchemaOf(tool)),
      async execute(input: unknown, { abortSignal }) {
        return tool.execute(input, { assets, signal: abortSignal } as ToolContext)
      },
    }
    return [tool.id, wrapTool(tool.id, described, { assets, maxResultChars: Infinity, guard })]
  })
  const descriptions = new Map(native.map(({ id, description }) => [id, description]))
  return {
    tools: Object.fromEntries(tools),
    isOwn: ({ name, description }) =>
      description !== undefined && descriptions.get(name) === description,
  }
}
