import type { AssetInfo } from '../assets/asset-info.ts'
import type { Assets } from '../assets/assets-contract.ts'
import { findAsset } from '../assets/find-asset.ts'

/**
 * Copies an asset between agents that keep theirs in different stores, under the same id: a reference means the same to both.
 *
 * @returns what is known of the asset where it was there already; null where it was copied, or where neither has it
 */
export async function copyAsset(ref: string, from: Assets, to: Assets): Promise<AssetInfo | null> {
  const there = await findAsset(ref, to)
  if (there) return there
  const info = await findAsset(ref, from)
  if (!info) return null
  const { assetId, name, mime, structured, expiresAt } = info
  if (!structured) {
    const { stream } = await from.open(info.ref)
    await to.save(stream, mime, { assetId, name, expiresAt })
    return null
  }
  const { asset_type, content_type, description } = await from.meta(info.ref)
  await to.saveAsset({
    asset_id: assetId,
    asset_type,
    content_type,
    content: await from.resolve(`${info.ref}/content`),
    ...(name === null ? {} : { asset_name: name }),
    ...(description ? { description } : {}),
  })
  return null
}
