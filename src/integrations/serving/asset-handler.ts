import { assetResponse, UnsatisfiableRangeError } from '../../assets/asset-response.ts'
import type { Assets } from '../../assets/assets-contract.ts'
import { checkOptions, is, type OptionTable } from '../../core/check-options.ts'
import { ByrefError } from '../../core/errors.ts'
import { formatAssetRef, refParts } from '../../core/refs/asset-ref.ts'
import { failureResponse, type RequestHandler, requestHandler } from './request-handler.ts'

/** Options of {@link createAssetHandler}. */
export interface AssetHandlerOptions {
  /**
   * The assets. Or a function that returns the assets that the sender of a request may see. It can also return a
   * Response, which is the answer, or throw. `refs.assets` and `agent.assets` without a namespace serve all assets to
   * everybody.
   */
  assets: Assets | ((request: Request) => Assets | Response | Promise<Assets | Response>)
}

type AssetsOf = Extract<AssetHandlerOptions['assets'], (request: Request) => unknown>

const OPTIONS: OptionTable<AssetHandlerOptions> = {
  assets: is.required(
    is.either(
      is.having<Assets>('assets, such as refs.assets', 'info', 'open'),
      is.callback<AssetsOf>(),
    ),
  ),
}

/**
 * Makes a handler that serves assets to browsers, by GET and HEAD. The path ends with the id of an asset or with its
 * reference, URL-encoded: `/api/assets/7hs…`. `?download` makes the browser save it. `?path=content/rows` serves one
 * field.
 *
 * @throws ByrefError `config_invalid` for unknown options
 */
export function createAssetHandler(options: AssetHandlerOptions): RequestHandler {
  checkOptions('createAssetHandler', options, OPTIONS)
  const { assets: given } = options

  async function serve(request: Request): Promise<Response> {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      throw new ByrefError('method_not_allowed', 'Use GET or HEAD to read assets')
    }
    const assets = typeof given === 'function' ? await given(request) : given
    if (assets instanceof Response) return assets
    const { pathname, searchParams } = new URL(request.url)
    const named = decodeURIComponent(pathname.slice(pathname.lastIndexOf('/') + 1))
    const { id, fieldPath } = refParts(named)
    const ref = formatAssetRef({ id })
    const field = fieldPath && formatAssetRef({ id, fieldPath }).slice(ref.length)
    const path = searchParams.get('path') ?? field
    return assetResponse(request, assets, ref, { path, download: searchParams.has('download') })
  }

  return requestHandler(async (request) => {
    try {
      return await serve(request)
    } catch (error) {
      const response = failureResponse(error)
      if (error instanceof UnsatisfiableRangeError) {
        response.headers.set('content-range', error.contentRange)
      }
      return response
    }
  })
}
