import type { AssetInfo } from '../../assets/asset-store.ts'
import type { Assets } from '../../assets/assets-contract.ts'
import { decodeBase64 } from '../../assets/bodies/data-url.ts'
import { ByrefError } from '../../core/errors.ts'
import type { Fields } from './rpc/json-rpc.ts'

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
