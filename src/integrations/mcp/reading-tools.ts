import { type AssetTool, fetchAssetTool, searchAssetTool } from '../../assets/asset-tools.ts'
import type { Assets } from '../../assets/assets-contract.ts'
import { documentForm } from '../../assets/documents/document-form.ts'
import { hasDuckdb } from '../../assets/tables/has-duckdb.ts'
import { queryTablesTool } from '../../assets/tables/query-tables-tool.ts'
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

/** Returns the tools that read assets, with SQL where DuckDB is installed. */
export function readingTools(): AssetTool[] {
  const all = [fetchAssetTool, searchAssetTool, queryTablesTool]
  return hasDuckdb() ? all : all.slice(0, 2)
}

/** Returns a tool in the form of `tools/list`. */
export function describeTool({ description, inputSchema }: AssetTool, name: string) {
  return {
    name,
    description,
    inputSchema,
    annotations: { readOnlyHint: true, openWorldHint: false },
  }
}

/** Returns a result of `tools/call` that shows an error to the model. */
export function failedCall(error: unknown): Fields {
  const code = error instanceof ByrefError ? `${error.code}: ` : ''
  return { content: [{ type: 'text', text: `${code}${errorMessage(error)}` }], isError: true }
}

/** Calls a tool that reads assets. Text comes in pages, pictures and sounds as such, other bytes as an embedded resource. */
export async function callReadingTool(
  tool: AssetTool,
  input: Record<string, unknown>,
  context: { assets: Assets; signal: AbortSignal },
): Promise<Fields> {
  try {
    const asked = await inMcpsWay(tool, input, context.assets)
    const { text, dataUrl, ...rest } = Object(await tool.execute(asked, context))
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
