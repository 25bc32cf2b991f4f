import { ByrefError } from '../errors.ts'
import type { AssetStore } from './asset-store.ts'
import type { Assets } from './assets-contract.ts'

/**
 * Assets as the `assetStore` of binary-assets.md, for tools and processors: `save`, `get`, `urlFor` and `info` by id or
 * reference, in the namespace and with the events of the view that it was made from. `info` of an unknown id is
 * undefined.
 */
export function toAssetStore(assets: Assets): AssetStore {
  return {
    async save(body, mime) {
      const info = await assets.save(body, mime)
      return { assetId: info.assetId, info }
    },
    get: (assetId) => assets.get(assetId),
    urlFor: (assetId, { inline, expiresIn } = {}) => assets.urlFor(assetId, { inline, expiresIn }),
    async info(assetId) {
      try {
        return await assets.info(assetId)
      } catch (error) {
        if (error instanceof ByrefError && error.code === 'asset_not_found') return undefined
        throw error
      }
    },
  }
}
