import { describe, it } from 'vitest'
import { testAssetStore } from '../testing/asset-store.ts'
import { createS3AssetStore } from './s3.ts'
import { memoryConnector } from './stores.fixture.ts'

describe('createS3AssetStore over a connector of your own', () => {
  testAssetStore(
    () => createS3AssetStore({ bucket: 'b', keyPrefix: 'p/', connector: memoryConnector() }),
    it,
  )
})
