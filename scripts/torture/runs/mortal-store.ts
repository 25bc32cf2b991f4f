import type { FullAssetStore } from '../../../src/assets/asset-store.ts'
import type { Life } from './life.ts'

/** A store for a process that can die. It has a point before and after each asset is saved. */
export function mortalStore(store: FullAssetStore, life: Life): FullAssetStore {
  return {
    ...store,
    async save(...saved) {
      await life.pass()
      const record = await store.save(...saved)
      await life.pass()
      return record
    },
  }
}
