import type { FullAssetStore } from '../asset-store.ts'
import { readBytes, streamOf } from '../bodies/body.ts'
import type { BodyStore } from '../bodies/body-store.ts'
import { memoryRecords } from '../records/memory-records.ts'
import { createStore } from './create-store.ts'

/** Creates a store in the memory of this process. It also keeps live objects. */
export function createMemoryAssetStore(): FullAssetStore {
  return createStore({ records: memoryRecords(), bodies: memoryBodies() })
}

/** Stores bodies in the memory of this process. */
export function memoryBodies(): BodyStore {
  const bodies = new Map<string, { bytes: Uint8Array; putAt: number }>()
  return {
    name: 'memory',

    async put(key, body, { signal }) {
      const bytes = await readBytes(body)
      signal?.throwIfAborted()
      bodies.set(key, { bytes, putAt: Date.now() })
    },

    async open(key, { start, end }) {
      const body = bodies.get(key)
      return body ? streamOf(body.bytes.subarray(start, end)) : null
    },

    async delete(key) {
      bodies.delete(key)
    },

    async *list(prefix) {
      for (const [key, { bytes, putAt }] of [...bodies]) {
        if (key.startsWith(prefix)) yield { key, size: bytes.byteLength, putAt }
      }
    },
  }
}
