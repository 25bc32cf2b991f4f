import type { FullAssetStore } from '../asset-store.ts'
import { memoryBodies } from '../bodies/memory-bodies.ts'
import { memoryRecords } from '../records/memory-records.ts'
import { createStore } from './create-store.ts'

/** Keeps assets in this process, live objects too. Everything is gone when the process ends. */
export function createMemoryAssetStore(): FullAssetStore {
  return createStore({ records: memoryRecords(), bodies: memoryBodies() })
}
