import { describe, it } from 'vitest'
import { testAssetStore } from '../testing/asset-store.ts'
import type { AssetStore } from './asset-store.ts'
import { threeMethods } from './fixtures/stores.ts'

function fourMethods(): AssetStore {
  const deleted = new Set<string>()
  const store = threeMethods()
  return {
    ...store,
    get: async (assetId) => {
      if (deleted.has(assetId)) throw new Error('it was removed')
      return store.get(assetId)
    },
    delete: async (assetId: string) => deleted.add(assetId),
  } as AssetStore
}

describe('a store of three methods', () => {
  testAssetStore(threeMethods, it)
})

describe('a store of three methods that can delete', () => {
  testAssetStore(fourMethods, it)
})
