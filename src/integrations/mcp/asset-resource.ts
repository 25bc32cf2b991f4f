import type { Assets } from '../../assets/assets-contract.ts'
import { ByrefError } from '../../core/errors.ts'

/** A larger body is read by `fetch_asset`, in parts. */
const MAX_BYTES = 32 * 1024 * 1024

/** Assets in a list: the newest. */
const LISTED = 100

/** Where assets are, as `resources/templates/list` says it. */
export const ASSET_TEMPLATE = {
  uriTemplate: 'asset://{id}',
  name: 'asset',
  title: 'Large results, by reference',
}

/** Assets as `resources/list` gives them. */
export async function newestAssets(assets: Assets) {
  const { assets: newest } = await assets.list({ limit: LISTED })
  const resources = newest.map(({ ref: uri, mime: mimeType, name, size }) => {
    return { uri, name: name ?? uri, mimeType, size }
  })
  return { resources }
}

/** MCP's error for a resource that there is not. */
class NoResourceError extends Error {
  readonly code = -32602
  readonly data: { uri: string }
  constructor(uri: string, cause: Error) {
    super(cause.message, { cause })
    this.data = { uri }
  }
}

/**
 * An asset, or a field of it, as `resources/read` gives it: text as text, all else as base64.
 *
 * @throws an error with MCP's code and data for what there is not
 */
export async function assetAsResource(assets: Assets, uri: string) {
  return readWhole(assets, uri).catch((error) => {
    const isMissing = error instanceof ByrefError && MISSING.has(error.code)
    throw isMissing ? new NoResourceError(uri, error) : error
  })
}

const MISSING = new Set(['asset_not_found', 'field_not_found', 'invalid_reference'])

async function readWhole(assets: Assets, uri: string) {
  const { size } = await assets.info(uri)
  if (size > MAX_BYTES) {
    const message = `${uri} has ${size} bytes, and a resource at most ${MAX_BYTES}: read parts of it by fetch_asset`
    throw new ByrefError('asset_too_large', message)
  }
  const { bytes, mime } = await assets.get(uri)
  const text = /^text\/|[/+](json|xml)\b/.test(mime) ? Buffer.from(bytes).toString() : null
  const body = text === null ? { blob: Buffer.from(bytes).toString('base64') } : { text }
  return { contents: [{ uri, mimeType: mime, ...body }] }
}
