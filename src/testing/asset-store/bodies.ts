import assert from 'node:assert/strict'
import {
  assertBytes,
  assertCode,
  type Check,
  digestOf,
  random,
  read,
  rejects,
  streamOf,
} from './check.ts'

export function testBodies(check: Check): void {
  check('gives back the bytes and the type that were saved', async (store) => {
    const bytes = random(100_000)
    const { assetId, info } = await store.save(bytes, 'image/png')
    assert.equal(info.size, bytes.byteLength)
    assert.equal(info.digest, digestOf(bytes))
    const got = await store.get(assetId)
    assert.equal(got.mime, 'image/png')
    assertBytes(got.bytes, bytes)
  })

  check('takes a stream of any chunks', async (store) => {
    const bytes = random(300_001)
    const { assetId, info } = await store.save(streamOf(bytes, 7919), 'video/mp4')
    assert.equal(info.size, bytes.byteLength)
    assert.equal(info.digest, digestOf(bytes))
    assertBytes(await read(store, assetId), bytes)
  })

  check('takes an empty body, of bytes or of a stream', async (store) => {
    const none = new Uint8Array()
    for (const body of [none, streamOf(none, 1)]) {
      const { assetId, info } = await store.save(body, 'text/plain')
      assert.equal(info.size, 0)
      assertBytes(await read(store, assetId), none)
    }
  })

  check('is not changed by who saved the bytes, nor by who read them', async (store) => {
    for (const bytes of [random(1000), Buffer.from(random(1000)), Buffer.alloc(100_000, 'x')]) {
      const before = new Uint8Array(bytes)
      const part = { digest: digestOf(bytes), bytes }
      const { assetId } = await store.save(bytes, 'image/png')
      const holder = await store.save(Buffer.from('{}'), 'application/json', {
        parts: [part],
        attributes: { structured: true },
      })
      bytes.fill(0)
      assertBytes(await read(store, assetId), before)
      assertBytes(await read(store, holder.assetId, { part: part.digest }), before)
      if (store.readsOnce) continue
      const { bytes: got } = await store.get(assetId)
      assertBytes(got, before)
      got.fill(1)
      for await (const chunk of (await store.open(assetId))?.stream ?? []) chunk.fill(2)
      assertBytes((await store.get(assetId)).bytes, before)
    }
  })

  check('reads ranges', async (store) => {
    const bytes = random(600_000)
    const { assetId } = await store.save(bytes, 'audio/wav')
    for (const [start, end] of [
      [0, 1],
      [599_000, undefined],
      [-1000, undefined],
      [262_143, 262_146],
      [599_999, 700_000],
    ] as const) {
      assertBytes(await read(store, assetId, { start, end }), bytes.slice(start, end))
    }
    for (const [start, end] of [
      [600_000, undefined],
      [5, 5],
      [9, 3],
      [0.5, 3],
    ] as const) {
      await rejects(store.open(assetId, { start, end, keep: true }), 'range_not_satisfiable')
    }
  })

  check(
    'says that an asset went while its stream was open, also when its id was taken again',
    async (store) => {
      const { assetId } = await store.save(random(1000), 'image/png', { assetId: 'mine' })
      const opened = await store.open(assetId, { keep: true })
      await store.delete(assetId)
      await store.save(random(1000), 'image/png', { assetId: 'mine' })
      const reading = new Response(opened?.stream).arrayBuffer()
      // A store that has just received the body may still return it.
      const error = await reading.then(
        () => null,
        (failed) => failed,
      )
      if (error !== null) assertCode(error, 'asset_not_found')
    },
  )

  check('lets a stream be dropped, read or not', async (store) => {
    const { assetId } = await store.save(random(1_000_000), 'image/png')
    const opened = await store.open(assetId, { keep: true })
    await opened?.stream.cancel()
    const again = await store.open(assetId, { keep: true })
    const reader = again?.stream.getReader()
    await reader?.read()
    await reader?.cancel()
    assert.equal((await read(store, assetId)).byteLength, 1_000_000)
  })

  check('keeps further bodies with an asset', async (store) => {
    const parts = [random(10), random(70_000)].map((bytes) => ({ digest: digestOf(bytes), bytes }))
    const body = Buffer.from('{"a":1}')
    const attributes = { structured: true }
    const { assetId, info } = await store.save(body, 'application/json', { parts, attributes })
    assert.deepEqual(
      info.parts.map((part) => part.digest).sort(),
      parts.map((part) => part.digest).sort(),
    )
    for (const { digest, bytes } of parts) {
      assertBytes(await read(store, assetId, { part: digest }), bytes)
      assertBytes(await read(store, assetId, { part: digest, start: 5 }), bytes.slice(5))
    }
    assert.equal(await store.open(assetId, { part: digestOf(random(3)), keep: true }), null)
    assertBytes(await read(store, assetId), body)
  })

  check('refuses a part of another digest than its own', async (store) => {
    const good = random(10)
    for (const evil of [random(10), random(100_000)]) {
      const saving = store.save(Buffer.from('{}'), 'application/json', {
        parts: [{ digest: digestOf(good), bytes: evil }],
        attributes: { structured: true },
      })
      await rejects(saving, 'asset_invalid')
    }
    assert.deepEqual(await store.usage(), { assets: 0, bytes: 0 })
  })

  check('keeps live objects, or refuses them', async (store) => {
    const object = { now: () => 1 }
    const saving = store.save(Buffer.from('{}'), 'application/json', { objects: [object] })
    if (!store.keepsObjects) return rejects(saving, 'asset_unsupported')
    const { assetId } = await saving
    assert.equal((await store.object(assetId, 0))?.value, object)
    assert.equal(await store.object(assetId, 1), null)
    assert.equal(await store.object('unknown', 0), null)
  })

  check('gives a data URL when asked for one', async (store) => {
    const { assetId } = await store.save(Buffer.from('hello'), 'text/plain')
    const url = await store.urlFor(assetId, { inline: true })
    assert.equal(url, 'data:text/plain;base64,aGVsbG8=')
  })
}

export function testMedium(check: Check): void {
  check('reads a body only for who reads the body', async (store, loseBodies) => {
    const { assetId, info } = await store.save(random(300_000), 'image/png', { name: 'x' })
    await loseBodies()
    assert.deepEqual(await store.info(assetId), info)
    assert.deepEqual((await store.list()).records, [info])
    assert.deepEqual(await store.usage(), { assets: 1, bytes: 300_000 })
    const dropped = await store.open(assetId, { start: 5 })
    await dropped?.stream.cancel()
    const opened = await store.open(assetId)
    assert.ok(opened, 'it opens')
    await rejects(new Response(opened.stream).arrayBuffer(), 'storage_failed')
    await rejects(store.get(assetId), 'storage_failed')
    const found = []
    for await (const { problem } of store.verify()) found.push(problem)
    assert.deepEqual(found, ['body_missing'])
    assert.equal(await store.delete(assetId), true)
    assert.deepEqual(await store.usage(), { assets: 0, bytes: 0 })
  })
}
