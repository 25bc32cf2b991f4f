import assert from 'node:assert/strict'
import type { StoreSaveOptions } from '../../assets/asset-store.ts'
import {
  assertBytes,
  assertSound,
  assertUnknown,
  type Check,
  digestOf,
  random,
  read,
  rejects,
} from './check.ts'

export function testRetention(check: Check): void {
  const past = new Date(Date.now() - 1000).toISOString()

  check('does not know an asset past its time, and frees it', async (store) => {
    const bytes = random(700)
    const expired = await store.save(bytes, 'image/png', { expiresAt: past })
    const kept = await store.save(bytes, 'image/png')
    const later = new Date(Date.now() + 3_600_000).toISOString()
    const waiting = await store.save(random(8), 'image/png', { expiresAt: later })
    await assertUnknown(store, expired.assetId, {})
    const { records } = await store.list()
    assert.deepEqual(
      new Set(records.map((record) => record.assetId)),
      new Set([kept.assetId, waiting.assetId]),
    )
    assert.deepEqual(await store.usage(), { assets: 2, bytes: 708 })
    assert.equal((await store.list()).next, null)
    const swept = await store.sweep()
    assert.equal(swept.assets, 1)
    assertBytes(await read(store, kept.assetId), bytes)
    assert.equal((await store.usage()).assets, 2)
    assert.equal((await store.sweep({ now: Date.now() + 7_200_000 })).assets, 1)
  })

  check('uses the id of an asset past its time for no other', async (store) => {
    const save = (options: StoreSaveOptions) =>
      store.save(random(5), 'image/png', { assetId: 'mine', ...options })
    await save({ expiresAt: past })
    await assertUnknown(store, 'mine', {})
    await rejects(save({}), 'asset_exists')
    await assertUnknown(store, 'mine', {})
    assert.equal((await store.sweep()).assets, 1)
    await save({})
    assert.equal((await store.info('mine'))?.size, 5)
  })

  check('finds itself sound', async (store) => {
    const namespace = 'a'
    const parts = [random(20)].map((bytes) => ({ digest: digestOf(bytes), bytes }))
    await store.save(random(10), 'image/png', { namespace })
    await store.save(Buffer.from('{}'), 'application/json', {
      namespace,
      parts,
      attributes: { structured: true },
    })
    await assertSound(store, { namespace })
  })
}
