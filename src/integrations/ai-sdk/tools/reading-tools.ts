import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import { jsonSchema, type Tool, type ToolExecutionOptions } from 'ai'
import type { AssetTool } from '../../../assets/asset-tools.ts'
import { editAssetTool } from '../../../assets/edit/edit-asset-tool.ts'
import { checkNamed } from '../../trust/tool-trust.ts'
import { ToolCalls, type ToolCallsOptions } from './tool-calls.ts'
import { wrapTool } from './wrap-tool.ts'

type Name = 'fetch_asset' | 'search_asset'

/** The tools that read long results, except where the application has a tool of that name. */
export type ReadingTools<Own> = {
  [Key in Exclude<Name, keyof Own>]: Tool<Record<string, unknown>, unknown>
}

/** Whether a tool returns pages, which never become assets. */
export function returnsPages({ id }: AssetTool): boolean {
  return id !== editAssetTool.id
}

/** Returns tools of assets as tools of the AI SDK, by name. */
export function nativeTools(
  tools: readonly AssetTool[],
  given: Pick<ToolCallsOptions, 'assets' | 'trust' | 'maxResultChars'>,
): Record<string, Tool> {
  const { assets, trust } = given
  const made = tools.map((native): [string, Tool] => {
    const { id: name, description, inputSchema, references } = native
    const tool = {
      description,
      inputSchema: jsonSchema(inputSchema),
      async execute(input: unknown, { abortSignal }: ToolExecutionOptions<unknown>) {
        if (trust) checkNamed(name, Object(input))
        return native.execute(Object(input), { assets, signal: abortSignal })
      },
    } as Tool
    const maxResultChars = returnsPages(native) ? Infinity : given.maxResultChars
    const options = { ...given, name, tool, references, maxResultChars }
    return [name, wrapTool(new ToolCalls({ ...options, outputs: 'values' }))]
  })
  return Object.fromEntries(made)
}

/** Whether a tool in a request is one of byref's reading tools, and not one of the application. */
export function isReadingTool(
  { name, description }: LanguageModelV4FunctionTool,
  tools: readonly AssetTool[],
): boolean {
  const own = tools.find(({ id }) => id === name)
  return own !== undefined && returnsPages(own) && own.description === description
}
