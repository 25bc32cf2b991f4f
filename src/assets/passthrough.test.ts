import { describe, it } from 'vitest'
import { testAssetStore } from '../testing/asset-store.ts'
import { createPassthroughAssetStore } from './passthrough.ts'

describe('createPassthroughAssetStore', () => {
  testAssetStore(() => createPassthroughAssetStore(), it)
})
