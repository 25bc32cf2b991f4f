import { describe, it } from 'vitest'
import { testAssetStore } from '../testing/asset-store.ts'
import type { AssetStore } from './asset-store.ts'

/** A store as somebody writes it in ten lines. */
function threeMethods(): AssetStore {
  const bodies = new Map<string, { bytes: Uint8Array; mime: string }>()
  return {
    async save(bytes, mime) {
      const assetId = `id${bodies.size}`
      bodies.set(assetId, { bytes: bytes.slice(), mime })
      return { assetId }
    },
    async get(assetId) {
      const found = bodies.get(assetId)
      if (!found) throw new Error('no such thing')
      return { bytes: found.bytes.slice(), mime: found.mime }
    },
    async urlFor(assetId) {
      return `https://example.com/${assetId}`
    },
  }
}

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
