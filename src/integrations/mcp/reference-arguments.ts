import type { Assets } from '../../assets/assets-contract.ts'
import { boundaryOf } from '../../boundary/boundary.ts'
import type { JsonSchema } from '../../boundary/describe-schema.ts'
import { type Codec, toolForModel } from '../../boundary/describe-tool.ts'
import type { Tool } from '../../boundary/tool.ts'
import { saveAsFile, withPaths } from './asset-files.ts'

/** Every parameter takes references to assets. Arguments are JSON, and the server validates them. */
const CODEC = { references: 'everywhere', bytes: 'base64', validate: false } as const

/**
 * Returns a tool of an MCP server in the form that the boundary takes.
 *
 * @param files The folder for files whose paths are arguments. Without it, no parameter takes a path.
 */
export function mcpTool(id: string, inputSchema: JsonSchema, files?: string): Tool {
  return {
    id,
    description: '',
    inputSchema: files === undefined ? inputSchema : withPaths(inputSchema),
    outputPath: false,
    variables: false,
    mappable: false,
    execute: () => null,
  }
}

/** Returns the schema of a tool's parameters for a model, which says where references are accepted. */
export function shownSchema(tool: Tool): JsonSchema {
  return toolForModel(tool, CODEC).inputSchema as JsonSchema
}

/**
 * Puts values in place of the references in a call's arguments: text, data, and bytes as base64. In longer text `<|asset://…|>`
 * becomes text. With `files`, a parameter that takes a path gets that of a new file. Values are never scanned for more references. Returns the same object if there are no references.
 *
 * @throws ByrefError of the reference that failed, or `invalid_arguments` for one that does not fit
 */
export async function resolveReferences(
  tool: Tool,
  args: Record<string, unknown>,
  { assets, files }: { assets: Assets; files?: string },
): Promise<Record<string, unknown>> {
  const saving: Codec =
    files === undefined ? {} : { saveFile: (ref) => saveAsFile(files, ref, assets) }
  const boundary = boundaryOf(() => assets, { ...CODEC, ...saving })
  const resolved = await boundary.resolve({ tool, arguments: args }, null)
  return boundary.withInput(
    { tool, arguments: resolved.arguments },
    (input) => input as Record<string, unknown>,
  )
}
