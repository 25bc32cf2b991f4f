import type { Assets } from '../../assets/assets-contract.ts'
import { ByrefError } from '../../core/errors.ts'

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
  const resources = newest.map(({ ref: uri, mime: mimeType, name, size }) => {
    return { uri, name: name ?? uri, mimeType, size }
  })
  return { resources }
}

/** MCP's error for a missing resource. */
class NoResourceError extends Error {
  readonly code = -32602
  readonly data: { uri: string }
  constructor(uri: string, cause: Error) {
    super(cause.message, { cause })
    this.data = { uri }
  }
}

/**
 * Returns an asset or a field of one in the form of `resources/read`: text as text, everything else as base64.
 *
 * @throws an error with MCP's code and data for a missing asset or field
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
    const message = `${uri} has ${size} bytes, but a resource may have at most ${MAX_BYTES}. Read it in parts with fetch_asset`
    throw new ByrefError('asset_too_large', message)
  }
  const { bytes, mime } = await assets.get(uri)
  const text = /^text\/|[/+](json|xml)\b/.test(mime) ? Buffer.from(bytes).toString() : null
  const body = text === null ? { blob: Buffer.from(bytes).toString('base64') } : { text }
  return { contents: [{ uri, mimeType: mime, ...body }] }
}
