import { describe, it } from 'vitest'
import { testAssetStore } from '../../testing/asset-store/asset-store.ts'
import { createMemoryAssetStore } from './memory.ts'

describe('createMemoryAssetStore', () => {
  testAssetStore(createMemoryAssetStore, it)
})
