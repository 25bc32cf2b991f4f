import { ByrefError } from '../../core/errors.ts'
import type { StoreQuota, StoreUsage } from '../asset-store.ts'

/** Bodies by what names them, and what they cost. */
type Sized = readonly { digest: string; size: number }[]

/** The number of assets, each given by its bodies, and the bytes of all distinct bodies, `more` included. */
export function usageOf(assets: readonly Sized[], more: Sized = []): StoreUsage {
  const sizes = new Map([...assets, more].flat().map(({ digest, size }) => [digest, size]))
  return { assets: assets.length, bytes: [...sizes.values()].reduce((sum, size) => sum + size, 0) }
}

/** Whether a usage is within the quota. */
export function isWithin(held: StoreUsage, quota: StoreQuota): boolean {
  return held.assets <= quota.assets && held.bytes <= quota.bytes
}

/**
 * Rejects one more asset if the quota has no room for it. `held` includes the bytes of its bodies.
 *
 * @throws ByrefError `quota_exceeded`
 */
export function checkRoom(held: StoreUsage, quota: StoreQuota): void {
  if (!isWithin({ ...held, assets: held.assets + 1 }, quota)) throw quotaExceeded(quota)
}

/** The error for an asset that exceeds the quota. */
export function quotaExceeded({ assets, bytes }: StoreQuota): ByrefError {
  const most = [
    ...(assets === Infinity ? [] : [`${assets} assets (limits.quotaAssets)`]),
    ...(bytes === Infinity ? [] : [`${bytes} bytes (limits.quotaBytes)`]),
  ]
  return new ByrefError(
    'quota_exceeded',
    `There is no room: a namespace may hold ${most.join(' and ')}. Delete some assets first.`,
  )
}
