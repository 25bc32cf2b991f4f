import assert from 'node:assert/strict'
import type { StoreSaveOptions } from '../../assets/asset-store.ts'
import {
  assertEmpty,
  assertSound,
  type Check,
  digestOf,
  endless,
  failureOf,
  random,
  rejects,
} from './check.ts'

export function testFailures(check: Check): void {
  check('keeps nothing of a stream that fails', async (store) => {
    const broken = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (Math.random() < 0.9) controller.enqueue(random(1000))
        else controller.error(new Error('the line was cut'))
      },
    })
    await assert.rejects(store.save(broken, 'image/png'), /the line was cut/)
    assert.deepEqual(await store.list(), { records: [], next: null })
    assert.deepEqual(await store.usage(), { assets: 0, bytes: 0 })
    await assertSound(store)
  })

  check('cancels the stream of a save that it refuses', async (store) => {
    const refused: StoreSaveOptions[] = [
      { parts: [{ digest: digestOf(Uint8Array.of(1)), bytes: Uint8Array.of(2) }] },
      { createdAt: 'yesterday' },
    ]
    if (!store.keepsObjects) refused.push({ objects: [{}] })
    for (const options of refused) {
      const source = endless(5000)
      const saving = store.save(source.stream, 'image/png', options)
      await rejects(saving, options.objects ? 'asset_unsupported' : 'asset_invalid')
      assert.equal(source.pulled(), 0, 'nothing was read')
      assert.ok(source.cancelled(), 'the source was told')
    }
  })

  check("throws what the caller's stream failed with, as it is", async (store) => {
    for (const size of [10, 200_000]) {
      const cause = Object.assign(new Error('gone'), { code: 'ENOENT' })
      const broken = new ReadableStream<Uint8Array>(
        {
          start: (controller) => controller.enqueue(random(size)),
          pull: (controller) => controller.error(cause),
        },
        { highWaterMark: 0 },
      )
      assert.equal(await failureOf(store.save(broken, 'image/png')), cause)
    }
  })
}

export function testAborts(check: Check): void {
  check('ends a save that is aborted while its stream flows', async (store) => {
    const abort = new AbortController()
    const source = endless(100_000, (pulled) => {
      if (pulled === 50) abort.abort(new Error('enough'))
    })
    await assert.rejects(store.save(source.stream, 'image/png', { signal: abort.signal }), /enough/)
    assert.ok(source.pulled() < 1000, `${source.pulled()} chunks were read`)
    assert.ok(source.cancelled(), 'the source was told')
    await assertEmpty(store)
  })

  check('ends a save that is aborted while its stream is silent', async (store) => {
    for (const before of [0, 3, 500]) {
      const abort = new AbortController()
      const source = endless(before)
      const saving = store.save(source.stream, 'image/png', { signal: abort.signal })
      setTimeout(() => abort.abort(new Error('enough')), 20)
      const { promise: late, reject } = Promise.withResolvers<never>()
      const timer = setTimeout(reject, 30_000, new Error('it still waits'))
      await assert.rejects(Promise.race([saving, late]), /enough/)
      clearTimeout(timer)
      assert.ok(source.cancelled(), 'the source was told')
    }
    await assertEmpty(store)
  })

  check('begins no save that is aborted already', async (store) => {
    const signal = AbortSignal.abort(new Error('before'))
    const source = endless(5)
    for (const body of [random(5), source.stream]) {
      await assert.rejects(store.save(body, 'image/png', { signal }), /before/)
    }
    assert.ok(source.cancelled(), 'the source was told')
    await assertEmpty(store)
  })

  check('ends a read that is aborted', async (store) => {
    const { assetId } = await store.save(random(3_000_000), 'image/png')
    const abort = new AbortController()
    const opened = await store.open(assetId, { keep: true, signal: abort.signal })
    const reader = opened?.stream.getReader()
    assert.ok((await reader?.read())?.value, 'a first chunk')
    abort.abort(new Error('enough'))
    await assert.rejects(async () => {
      for (let i = 0; i < 1000; i++) if ((await reader?.read())?.done) return
    }, /enough/)
  })
}
