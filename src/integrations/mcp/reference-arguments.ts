import type { Assets } from '../../assets/assets-contract.ts'
import type { JsonSchema } from '../../boundary/describe-schema.ts'
import type { Tool } from '../../boundary/tool.ts'
import { plainTool, resolveReferences } from '../plain-tools.ts'
import { saveAsFile, withPaths } from './asset-files.ts'

/**
 * Returns a tool of an MCP server in the form that the boundary takes.
 *
 * @param files The folder for files whose paths are arguments. Without it, no parameter takes a path.
 */
export function mcpTool(id: string, inputSchema: JsonSchema, files?: string): Tool {
  return plainTool(id, files === undefined ? inputSchema : withPaths(inputSchema))
}

/**
 * Puts values in place of the references in a call's arguments. With `files`, a parameter that takes a path gets that of a
 * new file.
 *
 * @throws ByrefError of the reference that failed, or `invalid_arguments` for one that does not fit
 */
export async function resolveArguments(
  tool: Tool,
  args: Record<string, unknown>,
  { assets, files }: { assets: Assets; files?: string },
): Promise<Record<string, unknown>> {
  if (files === undefined) return resolveReferences(tool, args, { assets })
  return resolveReferences(tool, args, {
    assets,
    saveFile: (ref) => saveAsFile(files, ref, assets),
  })
}
