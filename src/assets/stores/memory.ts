import type { FullAssetStore } from '../asset-store.ts'
import { memoryBodies } from '../bodies/memory-bodies.ts'
import { memoryRecords } from '../records/memory-records.ts'
import { createStore } from './create-store.ts'

/** Creates a store in the memory of this process. It also keeps live objects. */
export function createMemoryAssetStore(): FullAssetStore {
  return createStore({ records: memoryRecords(), bodies: memoryBodies() })
}
