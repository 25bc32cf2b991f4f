import assert from 'node:assert/strict'
import { assertBytes, assertSound, type Check, digestOf, random, read, streamOf } from './check.ts'

export function testSharing(check: Check): void {
  check('stores equal bytes once, under any number of assets', async (store) => {
    const bytes = random(50_000)
    const saved = []
    for (let i = 0; i < 3; i++) saved.push(await store.save(bytes, 'image/png'))
    assert.equal(new Set(saved.map((one) => one.assetId)).size, 3)
    const usage = await store.usage()
    assert.equal(usage.assets, 3)
    if (!store.readsOnce) assert.equal(usage.bytes, 50_000)
    for (const { assetId } of saved.slice(0, 2)) await store.delete(assetId)
    assertBytes(await read(store, saved[2]?.assetId ?? ''), bytes)
    await store.delete(saved[2]?.assetId ?? '')
    assert.deepEqual(await store.usage(), { assets: 0, bytes: 0 })
    const again = await store.save(bytes, 'image/png')
    assertBytes(await read(store, again.assetId), bytes)
  })

  check('keeps a body that is the part of one asset and the body of another', async (store) => {
    const bytes = random(2000)
    const part = { digest: digestOf(bytes), bytes }
    const attributes = { structured: true }
    const holder = await store.save(Buffer.from('{}'), 'application/json', {
      parts: [part],
      attributes,
    })
    const plain = await store.save(bytes, 'image/png')
    await store.delete(plain.assetId)
    assertBytes(await read(store, holder.assetId, { part: part.digest }), bytes)
    await assertSound(store)
  })

  check('stays whole while the same bytes are saved and removed at once', async (store) => {
    const bodies = [random(100), random(5000), random(90_000)]
    const live = new Map<string, Uint8Array>()
    await Promise.all(
      Array.from({ length: 6 }, async (_, worker) => {
        for (let i = 0; i < 4; i++) {
          const bytes = bodies[(i + worker) % bodies.length] as Uint8Array
          const { assetId } = await store.save(i % 2 ? bytes : streamOf(bytes, 999), 'image/png')
          if ((i + worker) % 3 === 0) live.set(assetId, bytes)
          else assert.equal(await store.delete(assetId), true)
        }
      }),
    )
    for (const [assetId, bytes] of live) assertBytes(await read(store, assetId), bytes)
    await assertSound(store)
    for (const assetId of live.keys()) await store.delete(assetId)
    assert.deepEqual(await store.usage(), { assets: 0, bytes: 0 })
  })
}
