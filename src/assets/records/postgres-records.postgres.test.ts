import { describe, it } from 'vitest'
import { newSchema } from '../../postgres/fixtures/schemas.ts'
import { testAssetStore } from '../../testing/asset-store/asset-store.ts'
import { testRecordIndex } from '../../testing/record-index.ts'
import { memoryBodies } from '../bodies/memory-bodies.ts'
import { createStore } from '../stores/create-store.ts'
import { postgresRecords } from './postgres-records.ts'

describe('postgresRecords', () => {
  testRecordIndex(() => postgresRecords(newSchema()), it)
})

describe('createStore of postgresRecords', () => {
  testAssetStore(
    () => createStore({ records: postgresRecords(newSchema()), bodies: memoryBodies() }),
    it,
  )
})
