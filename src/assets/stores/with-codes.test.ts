import { expect, it } from 'vitest'
import type { BodyStore } from '../bodies/body-store.ts'
import { memoryRecords } from '../records/memory-records.ts'
import { createStore } from './create-store.ts'
import { memoryBodies } from './memory.ts'
import { rebuildRecords } from './rebuild-records.ts'

const cause = new TypeError('fetch failed')
const fail = () => {
  throw cause
}
const FAILED = { code: 'storage_failed', cause }
const storeWith = (changes: Partial<BodyStore>) =>
  createStore({ records: memoryRecords(), bodies: { ...memoryBodies(), ...changes } })
const bytes = () => Uint8Array.of(1, 2, 3)

it('gives errors of a body store the code storage_failed', async () => {
  const saving = storeWith({ put: fail }).save(bytes(), 'image/png')
  await expect(saving).rejects.toMatchObject({
    ...FAILED,
    message: 'The store could not save the body: fetch failed',
  })
  const broken = () => new ReadableStream({ pull: fail })
  for (const open of [fail, async () => broken()]) {
    const store = storeWith({ open })
    const { assetId } = await store.save(bytes(), 'image/png')
    await expect(store.get(assetId)).rejects.toMatchObject(FAILED)
  }
  const signing = storeWith({ urlFor: fail })
  const { assetId } = await signing.save(bytes(), 'image/png')
  await expect(signing.urlFor(assetId)).rejects.toMatchObject(FAILED)
  await expect(storeWith({ list: fail }).sweep()).rejects.toMatchObject(FAILED)
  await expect(storeWith({ check: fail }).ready()).rejects.toMatchObject(FAILED)
  const parts = { records: memoryRecords(), bodies: { ...memoryBodies(), list: fail } }
  await expect(rebuildRecords(parts)).rejects.toMatchObject(FAILED)
})

it('does not change the reason of a signal', async () => {
  const abort = new AbortController()
  const reason = new Error('enough')
  const put = async () => {
    abort.abort(reason)
    throw cause
  }
  const saving = storeWith({ put }).save(bytes(), 'image/png', { signal: abort.signal })
  await expect(saving).rejects.toBe(reason)
})
