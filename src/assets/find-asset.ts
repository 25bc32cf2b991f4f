import { ByrefError } from '../core/errors.ts'
import type { AssetInfo } from './asset-info.ts'
import type { Assets } from './assets-contract.ts'

/**
 * Returns the description of an asset, or null if it does not exist. @throws what `assets.info` throws for any other
 * reason
 */
export async function findAsset(
  ref: string,
  assets: Pick<Assets, 'info'>,
): Promise<AssetInfo | null> {
  try {
    return await assets.info(ref)
  } catch (error) {
    if (error instanceof ByrefError && error.code === 'asset_not_found') return null
    throw error
  }
}
