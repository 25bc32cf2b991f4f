import { ByrefError } from '../../errors.ts'
import type { StoreUsage } from '../asset-store.ts'
import type { StoreQuota } from './record-index.ts'

/** Whether so much is within the quota. */
export function isWithin(held: StoreUsage, quota: StoreQuota): boolean {
  return held.assets <= quota.assets && held.bytes <= quota.bytes
}

/** The error for what would not be. */
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
