import type { AssetInfo } from '../../assets/asset-store.ts'
import { type AssetTool, fetchAssetTool, searchAssetTool } from '../../assets/asset-tools.ts'
import type { Assets } from '../../assets/assets-contract.ts'
import { decodeBase64 } from '../../assets/bodies/data-url.ts'
import { isTextType } from '../../assets/bodies/mime-type.ts'
import { editAssetTool } from '../../assets/edit/edit-asset-tool.ts'
import { ByrefError, errorMessage } from '../../core/errors.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import { assetToolSchema, runAssetTool } from '../plain-tools.ts'
import { type Fields, ProtocolError } from './rpc/json-rpc.ts'

const { isUtf8 } = nodeBuiltin('node:buffer')

/** The names of the tools that read large results. */
export interface ReadingToolNames {
  fetch: string
  search: string
}

/** The default names of these tools. A server may have tools with these names, too. */
export const READING_TOOLS: ReadingToolNames = {
  fetch: fetchAssetTool.id,
  search: searchAssetTool.id,
}

/** Returns a tool in the form of `tools/list`. */
export function clientToolOf(tool: AssetTool, name: string) {
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
  return { content: [textBlock(`${code}${errorMessage(error)}`)], isError: true }
}

export function textBlock(text: string): Fields {
  return { type: 'text', text }
}

/** Calls a tool of assets. Text comes in pages, pictures and sounds as such, other bytes as an embedded resource. */
export async function callAssetTool(
  tool: AssetTool,
  input: Record<string, unknown>,
  context: { assets: Assets; signal: AbortSignal },
): Promise<Fields> {
  try {
    const { text, dataUrl, ...rest } = Object(await runAssetTool(tool, input, context))
    const about = textBlock(JSON.stringify(rest))
    if (typeof text === 'string') return { content: [about, textBlock(text)] }
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

/** Maximum bytes of a resource. `fetch_asset` reads larger assets in parts. */
const MAX_BYTES = 32 * 1024 * 1024

/** Maximum assets in a list: the newest. */
const LISTED = 100

/** The template of assets in `resources/templates/list`. */
export const ASSET_TEMPLATE = {
  uriTemplate: 'asset://{id}',
  name: 'asset',
  title: 'Large results, by reference',
}

/** Returns the newest assets in the form of `resources/list`. */
export async function newestAssets(assets: Assets) {
  const { assets: newest } = await assets.list({ limit: LISTED })
  return newest.map(({ ref: uri, mime: mimeType, name, size }) => {
    return { uri, name: name ?? uri, mimeType, size }
  })
}

/**
 * Returns an asset or a field of one in the form of `resources/read`: UTF-8 text as text, everything else as base64.
 *
 * @throws an error with MCP's code and data for a missing asset or field
 */
export async function assetAsResource(assets: Assets, uri: string) {
  return readWhole(assets, uri).catch((error) => {
    const isMissing = error instanceof ByrefError && MISSING.has(error.code)
    if (!isMissing) throw error
    throw new ProtocolError(error.message, { data: { uri }, cause: error })
  })
}

const MISSING = new Set(['asset_not_found', 'field_not_found', 'invalid_reference'])

async function readWhole(assets: Assets, uri: string) {
  const { size } = await assets.info(uri)
  if (size > MAX_BYTES) {
    const message = `${uri} has ${size} bytes, but a resource may have at most ${MAX_BYTES}. Read it in parts with fetch_asset`
    throw new ByrefError('asset_too_large', message)
  }
  const { bytes, mime } = await assets.get(uri)
  const isText = isTextType(mime) && isUtf8(bytes)
  const text = isText ? Buffer.from(bytes).toString() : null
  const body = text === null ? { blob: Buffer.from(bytes).toString('base64') } : { text }
  return { contents: [{ uri, mimeType: mime, ...body }] }
}

/** Saves a block or a resource of MCP under a name. Null if it has no body. */
export type SaveBody = (body: Fields, name: string) => Promise<AssetInfo | null>

/**
 * Saves the body of a block or a resource of MCP: its text, or the bytes of its base64. Null if it has none. An invalid
 * MIME type is ignored.
 */
export async function saveBody(
  { text, data, blob = data, mimeType }: Fields,
  assets: Assets,
  options: { name: string | null; expiresAt?: Date },
): Promise<AssetInfo | null> {
  const decoded = typeof blob === 'string' ? decodeBase64(blob) : null
  const bytes = typeof text === 'string' ? Buffer.from(text) : decoded
  const mime = typeof mimeType === 'string' ? mimeType : null
  const how = { ...options, by: 'tool', owned: true } as const
  if (!bytes) return null
  try {
    return await assets.save(bytes, mime, how)
  } catch (error) {
    const isNoType = error instanceof ByrefError && error.code === 'asset_invalid'
    if (mime === null || !isNoType) throw error
    return assets.save(bytes, typeof text === 'string' ? 'text/plain' : null, how)
  }
}
