import { ByrefError } from '../core/errors.ts'
import type { NamespaceOption } from './asset-locator.ts'
import type { AssetInfo, AssetStore } from './asset-store.ts'
import type { Assets } from './assets-contract.ts'

/**
 * Returns assets as the `assetStore` for tools and processors, with `save`, `get`, `urlFor` and `info` by id or
 * reference. It works in the namespace and with the events of the assets that it was made from. `info` of an unknown id
 * is undefined.
 */
export function toAssetStore(assets: Assets): AssetStore {
  return {
    async save(body, mime, options) {
      const info = await assets.save(body, mime, options)
      return { assetId: info.assetId, info }
    },
    get: (assetId, options) => assets.get(assetId, options),
    urlFor: (assetId, options) => assets.urlFor(assetId, options),
    info: async (assetId, options) => (await findAsset(assetId, assets, options)) ?? undefined,
  }
}

/**
 * Returns the description of an asset, or null if it does not exist.
 *
 * @throws what `assets.info` throws for any other reason
 */
export async function findAsset(
  ref: string,
  assets: Pick<Assets, 'info'>,
  options?: NamespaceOption,
): Promise<AssetInfo | null> {
  try {
    return await assets.info(ref, options)
  } catch (error) {
    if (error instanceof ByrefError && error.code === 'asset_not_found') return null
    throw error
  }
}
