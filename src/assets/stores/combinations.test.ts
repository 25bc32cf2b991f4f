import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { testAssetStore } from '../../testing/asset-store/asset-store.ts'
import { testBodyStore } from '../../testing/body-store.ts'
import { testRecordIndex } from '../../testing/record-index.ts'
import { fsBodies } from '../bodies/fs-bodies.ts'
import { s3Bodies } from '../bodies/s3-bodies.ts'
import { blobBodies, fakeContainer } from '../fixtures/blob-bodies.ts'
import { memoryConnector, testFolder } from '../fixtures/stores.ts'
import { memoryRecords } from '../records/memory-records.ts'
import { sqliteRecords } from '../records/sqlite-records.ts'
import { createStore } from './create-store.ts'
import { memoryBodies } from './memory.ts'

const folder = testFolder()
const newPath = () => join(folder, crypto.randomUUID())

const INDEXES = {
  memoryRecords,
  sqliteRecords: () => sqliteRecords(join(newPath(), 'records.sqlite')),
  'sqliteRecords in memory': () => sqliteRecords(':memory:'),
}

const BODIES = {
  memoryBodies,
  fsBodies: () => fsBodies(newPath()),
  s3Bodies: () => s3Bodies({ bucket: 'b', keyPrefix: 'p/', connector: memoryConnector() }),
  'bodies in a container of another cloud': () => blobBodies(fakeContainer()),
}

describe.each(Object.entries(INDEXES))('%s', (_, create) => {
  testRecordIndex(create, it)
})

describe.each(Object.entries(BODIES))('%s', (_, create) => {
  testBodyStore(create, it)
})

/** The others are those of memory, fs and s3. */
const COMBINATIONS = [
  ['memoryRecords', 's3Bodies'],
  ['sqliteRecords', 'memoryBodies'],
  ['sqliteRecords', 's3Bodies'],
  ['sqliteRecords', 'bodies in a container of another cloud'],
] as const

describe.each(COMBINATIONS)('createStore of %s and %s', (index, bodies) => {
  testAssetStore(() => createStore({ records: INDEXES[index](), bodies: BODIES[bodies]() }), it)
})

describe('createStore', () => {
  it.each(['cancelled', 'aborted'])(
    'closes a body that is opened after its stream is %s',
    async (how) => {
      const opening = Promise.withResolvers<void>()
      const cancel = vi.fn()
      const bodies = memoryBodies()
      async function open() {
        await opening.promise
        return new ReadableStream<Uint8Array>({ cancel })
      }
      const store = createStore({ records: memoryRecords(), bodies: { ...bodies, open } })
      const { assetId } = await store.save(new Uint8Array(3), 'text/plain')
      const stop = new AbortController()
      const opened = await store.open(assetId, { signal: stop.signal })
      const reader = opened?.stream.getReader()
      const reading = reader?.read().catch(() => {})
      await setImmediate()
      if (how === 'aborted') stop.abort()
      else await reader?.cancel()
      opening.resolve()
      await reading
      await expect.poll(() => cancel.mock.calls.length).toBe(1)
    },
    5_000,
  )
})

describe('createStore with recordFiles', () => {
  testAssetStore(
    () => createStore({ records: memoryRecords(), bodies: memoryBodies(), recordFiles: true }),
    it,
  )
})
