import { bodiesOf } from '../asset-record.ts'
import type { AssetRecord, StoreUsage } from '../asset-store.ts'

/** What records hold: their number, and the bytes of their distinct bodies. */
export function usageOf(records: readonly AssetRecord[]): StoreUsage {
  const sizes = new Map(records.flatMap(bodiesOf).map(({ digest, size }) => [digest, size]))
  const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0)
  return { assets: records.length, bytes }
}
