import {
  type AssetTool,
  type AssetToolContext,
  fetchAssetTool,
  searchAssetTool,
} from '../../assets/asset-tools.ts'
import type { Assets } from '../../assets/assets-contract.ts'
import { documentForm } from '../../assets/documents/document-form.ts'
import { editAssetTool } from '../../assets/edit/edit-asset-tool.ts'
import { hasDuckdb } from '../../assets/tables/has-duckdb.ts'
import { queryTablesTool } from '../../assets/tables/query-tables-tool.ts'
import { boundaryOf } from '../../boundary/boundary.ts'
import { toolForModel } from '../../boundary/describe-tool.ts'
import type { Tool } from '../../boundary/tool.ts'
import { ByrefError, errorMessage } from '../../core/errors.ts'
import type { Fields } from './rpc/json-rpc.ts'

/** The names of the tools that read large results. */
export interface ReadingToolNames {
  fetch: string
  search: string
}

/** Their usual names. A server may have tools of these names, too. */
export const READING_TOOLS: ReadingToolNames = {
  fetch: fetchAssetTool.id,
  search: searchAssetTool.id,
}

/** Returns the tools that read assets, with SQL where DuckDB is installed, and `edit_asset` if it is wanted. */
export function assetTools(editing: boolean): AssetTool[] {
  const tools = [fetchAssetTool, searchAssetTool]
  if (hasDuckdb()) tools.push(queryTablesTool)
  if (editing) tools.push(editAssetTool)
  return tools
}

const WITHOUT_ENGINE = { variables: false, outputPath: false, mappable: false } as const

/** Returns a tool in the form of `tools/list`. */
export function describeTool(tool: AssetTool, name: string) {
  const isEdit = tool === editAssetTool
  const hints = isEdit ? { readOnlyHint: false, destructiveHint: false } : { readOnlyHint: true }
  return {
    name,
    description: tool.description,
    inputSchema: toolForModel({ ...(tool as Tool), ...WITHOUT_ENGINE }).inputSchema as Fields,
    annotations: { ...hints, openWorldHint: false },
  }
}

/** Returns a result of `tools/call` that shows an error to the model. */
export function failedCall(error: unknown): Fields {
  const code = error instanceof ByrefError ? `${error.code}: ` : ''
  return { content: [{ type: 'text', text: `${code}${errorMessage(error)}` }], isError: true }
}

/** Runs a tool of assets with the values of the references in its arguments. */
export async function runAssetTool(
  tool: AssetTool,
  written: Record<string, unknown>,
  context: AssetToolContext,
): Promise<unknown> {
  const boundary = boundaryOf(() => context.assets)
  const call = { tool: tool as Tool, arguments: written }
  const resolved = await boundary.resolve(call, null)
  return boundary.withInput({ ...call, ...resolved }, (input) =>
    tool.execute(Object(input), context),
  )
}

/** Calls a tool of assets. Text comes in pages, pictures and sounds as such, other bytes as an embedded resource. */
export async function callAssetTool(
  tool: AssetTool,
  input: Record<string, unknown>,
  context: { assets: Assets; signal: AbortSignal },
): Promise<Fields> {
  try {
    const asked = await inMcpsWay(tool, input, context.assets)
    const { text, dataUrl, ...rest } = Object(await runAssetTool(tool, asked, context))
    const about = { type: 'text', text: JSON.stringify(rest) }
    if (typeof text === 'string') return { content: [about, { type: 'text', text }] }
    return {
      content: typeof dataUrl === 'string' ? [about, bytesBlock(rest.assetRef, dataUrl)] : [about],
    }
  } catch (error) {
    return failedCall(error)
  }
}

/** Reads text and documents as text, unless the call asks for another format. */
async function inMcpsWay(
  { id }: AssetTool,
  input: Record<string, unknown>,
  assets: Assets,
): Promise<Record<string, unknown>> {
  const { ref, format } = input
  if (id === fetchAssetTool.id && format === undefined && typeof ref === 'string') {
    const { mime } = await assets.info(ref)
    const isText = /^text\/|[/+](json|xml|yaml|x-ndjson)\b/.test(mime)
    return isText || documentForm(mime) ? { ...input, format: 'text' } : input
  }
  return input
}

function bytesBlock(uri: unknown, dataUrl: string): Fields {
  const [, mimeType = '', data = ''] = /^data:([^,]*);base64,(.*)$/s.exec(dataUrl) ?? []
  const [type] = mimeType.split('/')
  if (type === 'image' || type === 'audio') return { type, data, mimeType }
  return { type: 'resource', resource: { uri, mimeType, blob: data } }
}
