import { describe, it } from 'vitest'
import { emptiedSchema } from '../../postgres/fixtures/schemas.ts'
import { testAssetStore } from '../../testing/asset-store/asset-store.ts'
import { testRecordIndex } from '../../testing/record-index.ts'
import { createStore } from '../stores/create-store.ts'
import { memoryBodies } from '../stores/memory.ts'
import { postgresRecords } from './postgres-records.ts'

const nextPlace = emptiedSchema()

describe('postgresRecords', () => {
  testRecordIndex(async () => postgresRecords(await nextPlace()), it)
})

describe('createStore of postgresRecords', () => {
  testAssetStore(
    async () =>
      createStore({ records: postgresRecords(await nextPlace()), bodies: memoryBodies() }),
    it,
  )
})
