import { bodiesOf } from '../asset-record.ts'
import type { AssetRecord, StoreUsage } from '../asset-store.ts'

/** What the records that `each` gives hold: their number, and the bytes of their distinct bodies. */
export async function usageOf(
  each: (use: (record: AssetRecord) => void) => void | Promise<void>,
): Promise<StoreUsage> {
  const bodies = new Map<string, number>()
  let assets = 0
  await each((record) => {
    assets++
    for (const { digest, size } of bodiesOf(record)) bodies.set(digest, size)
  })
  return { assets, bytes: [...bodies.values()].reduce((sum, size) => sum + size, 0) }
}
