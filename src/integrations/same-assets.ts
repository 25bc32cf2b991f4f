import { findAsset } from '../assets/asset-facade.ts'
import type { AssetInfo } from '../assets/asset-store.ts'
import { encodeAsset, PreparedContent } from '../assets/asset-writer.ts'
import type { Assets } from '../assets/assets-contract.ts'
import { copyBytes, plain } from '../assets/bodies/body.ts'
import { digestOf, sha256 } from '../assets/bodies/digest.ts'
import { ByrefError } from '../core/errors.ts'
import { OFFLOADED_TYPE } from '../core/messages/offloaded.ts'

/**
 * Assets that save equal bytes, and equal long results, as one asset. An application sends the same results again with
 * every request, and the model must find them under the names that it knows. A stream or a Blob is a new asset each
 * time.
 */
export function sameAssets(assets: Assets): Assets {
  return withIds(assets, new Map())
}

function withIds(assets: Assets, saving: Map<string, Promise<AssetInfo>>): Assets {
  const find = (id: string) => findAsset(id, assets)

  /** Saves an asset unless it exists. Two saves at the same time, even in two processes, make one asset. */
  function once(id: string, save: () => Promise<AssetInfo>): Promise<AssetInfo> {
    const made = async (): Promise<AssetInfo> => {
      try {
        return (await find(id)) ?? (await save())
      } catch (error) {
        const isTaken = error instanceof ByrefError && error.code === 'asset_exists'
        const found = isTaken ? await find(id) : null
        if (found) return found
        throw error
      }
    }
    const task = saving.get(id) ?? made().finally(() => saving.delete(id))
    saving.set(id, task)
    return task
  }

  return {
    ...assets,
    scoped: (scope) => withIds(assets.scoped(scope), saving),
    save(body, mime, options) {
      if (!(body instanceof Uint8Array)) return assets.save(body, mime, options)
      // A copy, because the caller may change the bytes before they are saved.
      const bytes = options?.owned ? plain(body) : copyBytes(body)
      const assetId = idOf([digestOf(bytes), mime ?? null, options?.name ?? null])
      return once(assetId, () => assets.save(bytes, mime, { ...options, assetId, owned: true }))
    },
    async saveAsset(asset, options) {
      // Other structured assets may contain values that JSON cannot distinguish.
      if (asset.asset_type !== OFFLOADED_TYPE) return assets.saveAsset(asset, options)
      const encoded = await encodeAsset(asset, assets.config.limits.depth)
      const { body, name, attributes } = encoded
      const { meta: _, ...about } = attributes
      const asset_id = idOf([digestOf(body), name, about])
      // A text is a file, which needs no encoding.
      const content =
        typeof asset.content === 'string' ? asset.content : new PreparedContent(encoded)
      return once(asset_id, () => assets.saveAsset({ ...asset, asset_id, content }, options))
    },
  }
}

/** Returns an id of 25 letters and digits: the first half of a digest. */
function idOf(what: unknown): string {
  const digest = sha256(JSON.stringify(what))
  return BigInt(`0x${digest.slice(0, 32)}`)
    .toString(36)
    .padStart(25, '0')
}
