import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import { jsonSchema, type Tool, type ToolExecutionOptions } from 'ai'
import { editAssetTool } from '../../../assets/edit/edit-asset-tool.ts'
import { hasDuckdb } from '../../../assets/tables/duckdb.ts'
import { queryTablesTool } from '../../../assets/tables/query-tables-tool.ts'
import { resolveTools } from '../../../boundary/native-tools.ts'
import { type Tool as ByrefTool, jsonSchemaOf, type ToolContext } from '../../../boundary/tool.ts'
import { checkNamed } from '../../trust/check-named.ts'
import { ToolCalls } from './tool-calls.ts'
import { type WrapOptions, wrapTool } from './wrap-tool.ts'

type Name = 'fetch_asset' | 'search_asset'

/** The tools that read long results, except where the application has a tool of that name. */
export type ReadingTools<Own> = {
  [Key in Exclude<Name, keyof Own>]: Tool<Record<string, unknown>, unknown>
}

const { tools: NATIVE } = resolveTools([], { resolveInLLM: true, reading: true, tables: true })

/**
 * Returns the tools that read assets, with SQL where DuckDB is installed. They return pages, so their results never become
 * assets.
 */
export function readingTools(given: NativeOptions): Record<string, Tool> {
  // SQL names assets where no label follows them.
  const hasSql = given.trust === null && hasDuckdb()
  const tools = NATIVE.filter(({ id }) => hasSql || id !== queryTablesTool.id)
  return nativeTools(tools, { ...given, maxResultChars: Infinity })
}

/** Returns `edit_asset`. */
export function editingTools(
  given: NativeOptions & Pick<WrapOptions, 'maxResultChars'>,
): Record<string, Tool> {
  return nativeTools([editAssetTool as ByrefTool], given)
}

type NativeOptions = Pick<WrapOptions, 'assets' | 'trust'>

function nativeTools(
  tools: readonly ByrefTool[],
  given: NativeOptions & Pick<WrapOptions, 'maxResultChars'>,
): Record<string, Tool> {
  const { assets, trust } = given
  const made = tools.map((tool): [string, Tool] => {
    const described = {
      description: tool.description,
      inputSchema: jsonSchema(jsonSchemaOf(tool)),
      async execute(input: unknown, { abortSignal }: ToolExecutionOptions<unknown>) {
        if (trust) checkNamed(tool.id, Object(input))
        return tool.execute(input, { assets, signal: abortSignal } as ToolContext)
      },
    } as Tool
    const { references } = tool
    const calls = { ...given, name: tool.id, tool: described, references }
    const options: WrapOptions = { ...calls, outputs: 'values' }
    return [tool.id, wrapTool(new ToolCalls(options), options)]
  })
  return Object.fromEntries(made)
}

/** Returns whether a tool in a request is one of these, and not one of the application. */
export function isReadingTool({ name, description }: LanguageModelV4FunctionTool): boolean {
  const own = NATIVE.find(({ id }) => id === name)
  return own !== undefined && own.description === description
}
