import { type AssetTool, fetchAssetTool, searchAssetTool } from '../../assets/asset-tools.ts'
import type { Assets } from '../../assets/assets-contract.ts'
import { editAssetTool } from '../../assets/edit/edit-asset-tool.ts'
import { ByrefError, errorMessage } from '../../core/errors.ts'
import { assetToolSchema, preferText, runAssetTool } from '../plain-tools.ts'
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

/** Returns a tool in the form of `tools/list`. */
export function describeTool(tool: AssetTool, name: string) {
  const isEdit = tool === editAssetTool
  const hints = isEdit ? { readOnlyHint: false, destructiveHint: false } : { readOnlyHint: true }
  return {
    name,
    description: tool.description,
    inputSchema: assetToolSchema(tool) as Fields,
    annotations: { ...hints, openWorldHint: false },
  }
}

/** Returns a result of `tools/call` that shows an error to the model. */
export function failedCall(error: unknown): Fields {
  const code = error instanceof ByrefError ? `${error.code}: ` : ''
  return { content: [{ type: 'text', text: `${code}${errorMessage(error)}` }], isError: true }
}

/** Calls a tool of assets. Text comes in pages, pictures and sounds as such, other bytes as an embedded resource. */
export async function callAssetTool(
  tool: AssetTool,
  input: Record<string, unknown>,
  context: { assets: Assets; signal: AbortSignal },
): Promise<Fields> {
  try {
    const asked = await preferText(tool, input, context.assets)
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

function bytesBlock(uri: unknown, dataUrl: string): Fields {
  const [, mimeType = '', data = ''] = /^data:([^,]*);base64,(.*)$/s.exec(dataUrl) ?? []
  const [type] = mimeType.split('/')
  if (type === 'image' || type === 'audio') return { type, data, mimeType }
  return { type: 'resource', resource: { uri, mimeType, blob: data } }
}
