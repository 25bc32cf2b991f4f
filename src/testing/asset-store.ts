import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  type AssetStore,
  type FullAssetStore,
  isFullStore,
  type StoreOptions,
  type StoreSaveOptions,
} from '../assets/asset-store.ts'
import { withRecords } from '../assets/stores/with-records.ts'
import { ByrefError } from '../errors.ts'
import type { TestFunction } from './conversation-log.ts'

type Check = (
  name: string,
  run: (store: FullAssetStore, loseBodies: () => Promise<unknown>) => Promise<void>,
) => void

/** What the tests can do to a store behind its back. */
export interface AssetStoreMedium {
  /**
   * Takes away every body that the store made by `create` keeps, and leaves its records. With it the tests can see that
   * what needs no body reads none.
   */
  loseBodies(store: AssetStore): unknown
}

/**
 * The contract of {@link AssetStore} as tests: every store passes them, also one of three methods. What a store without
 * records of its own cannot do it refuses with `asset_unsupported`, and that passes too; a full store can do all of it.
 *
 * @param create Gives a new, empty store; called once a test.
 * @param test Your runner's `test` function.
 */
export function testAssetStore(
  create: () => AssetStore | Promise<AssetStore>,
  test: TestFunction,
  medium?: AssetStoreMedium,
): void {
  const check: Check = (name, run) => {
    test(name, async () => {
      const store = await create()
      if (isFullStore(store)) {
        await store.ready()
        return run(store, async () => medium?.loseBodies(store))
      }
      await run(withRecords(store), async () => medium?.loseBodies(store)).catch(
        (error: unknown) => {
          if (!isUnsupported(error)) throw error
        },
      )
    })
  }
  testBodies(check)
  testRecords(check)
  testIds(check)
  testNamespaces(check)
  testSharing(check)
  testFailures(check)
  testAborts(check)
  testRetention(check)
  if (medium) testMedium(check)
}

function testBodies(check: Check): void {
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
      // A store that had the body in its hands may give it still.
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

function testRecords(check: Check): void {
  check('keeps what is said of an asset', async (store) => {
    const attributes = {
      description: 'a',
      structured: true,
      meta: { asset_id: 'x', content: { n: [1, null] } },
      references: ['y'],
      custom: { deep: true },
    }
    const saved = await store.save(Buffer.from('{}'), 'application/json', {
      name: 'café 😀.json',
      attributes,
    })
    const info = await store.info(saved.assetId)
    assert.deepEqual(info, saved.info)
    assert.equal(info?.name, 'café 😀.json')
    assert.equal(info?.kind, 'file')
    assert.deepEqual(info?.attributes, attributes)
    assert.equal(new Date(info?.createdAt ?? '').toISOString(), info?.createdAt)
    assert.equal(info?.expiresAt, null)
  })

  check('keeps times as they sort, and refuses what is none', async (store) => {
    const save = (options: StoreSaveOptions) => store.save(random(5), 'image/png', options)
    const { info } = await save({
      createdAt: '2026-01-01T01:30:00+02:00',
      expiresAt: '2999-01-01T00:00:00Z',
    })
    assert.equal(info.createdAt, '2025-12-31T23:30:00.000Z')
    assert.equal(info.expiresAt, '2999-01-01T00:00:00.000Z')
    await rejects(save({ createdAt: 'yesterday' }), 'asset_invalid')
    await rejects(save({ expiresAt: 'soon' }), 'asset_invalid')
    assert.equal((await store.usage()).assets, 1)
  })

  check('does not know what was never saved', async (store) => {
    assert.equal(await store.info('unknown'), null)
    assert.equal(await store.open('unknown'), null)
    await rejects(store.get('unknown'), 'asset_not_found')
    await rejects(store.urlFor('unknown'), 'asset_not_found')
    await rejects(store.urlFor('unknown', { inline: true }), 'asset_not_found')
    assert.equal(await store.delete('unknown'), false)
    assert.deepEqual(await store.list(), { records: [], next: null })
    assert.deepEqual(await store.usage(), { assets: 0, bytes: 0 })
  })

  check('lists newest first, page by page', async (store) => {
    const ids: string[] = []
    for (let i = 0; i < 7; i++) {
      const createdAt = new Date(Date.UTC(2026, 0, 1 + Math.floor(i / 2))).toISOString()
      ids.push((await store.save(random(5), 'image/png', { createdAt })).assetId)
    }
    const all = await store.list()
    assert.equal(all.next, null)
    const sorted = [...all.records].sort((a, b) =>
      a.createdAt === b.createdAt
        ? a.assetId < b.assetId
          ? 1
          : -1
        : a.createdAt < b.createdAt
          ? 1
          : -1,
    )
    assert.deepEqual(all.records, sorted)
    assert.deepEqual(new Set(all.records.map((record) => record.assetId)), new Set(ids))
    const paged: string[] = []
    let cursor: string | null = null
    do {
      const page: Awaited<ReturnType<typeof store.list>> = await store.list({ limit: 3, cursor })
      assert.ok(page.records.length <= 3)
      paged.push(...page.records.map((record) => record.assetId))
      cursor = page.next
    } while (cursor !== null)
    assert.deepEqual(
      paged,
      all.records.map((record) => record.assetId),
    )
    await rejects(store.list({ cursor: 'nonsense' }), 'bad_request')
    for (const limit of [0, -1, 1.5, NaN]) await rejects(store.list({ limit }), 'bad_request')
    assert.equal((await store.list({ limit: 100_000 })).records.length, 7)
  })

  check('removes an asset once', async (store) => {
    const { assetId } = await store.save(random(10), 'image/png')
    assert.equal(await store.delete(assetId), true)
    assert.equal(await store.delete(assetId), false)
    assert.equal(await store.info(assetId), null)
    assert.equal(await store.open(assetId, { keep: true }), null)
    await rejects(store.get(assetId), 'asset_not_found')
    assert.deepEqual(await store.usage(), { assets: 0, bytes: 0 })
  })

  check('tells one of many that it removed an asset', async (store) => {
    const { assetId } = await store.save(random(10), 'image/png')
    const told = await Promise.all(Array.from({ length: 5 }, () => store.delete(assetId)))
    assert.equal(told.filter((removed) => removed).length, 1)
  })
}

/** Ids that name something else on one disk or another, or in one URL or another. */
const ODD_IDS = [
  '../../secret',
  '/etc/passwd',
  'C:\\windows',
  'con',
  'NUL.txt',
  'a/b/c',
  'a%2Fb',
  'a b',
  ' a',
  'a.',
  '.a',
  '~',
  '#x',
  'x?y',
  'Case',
  'case',
  'é',
  'e\u0301',
  '😀',
  '__proto__',
  'constructor',
  'a'.repeat(200),
]

function testIds(check: Check): void {
  check('makes ids of its own, each another', async (store) => {
    const saved = await Promise.all(
      Array.from({ length: 20 }, () => store.save(random(3), 'image/png')),
    )
    assert.equal(new Set(saved.map((one) => one.assetId)).size, 20)
  })

  check('takes ids of any letters, and keeps them apart', async (store) => {
    for (const id of ODD_IDS) {
      await store.save(Buffer.from(id), 'text/plain', { assetId: id })
    }
    for (const id of ODD_IDS) {
      assertBytes(await read(store, id), Buffer.from(id))
      assert.equal((await store.info(id))?.assetId, id)
    }
    const { records } = await store.list()
    assert.deepEqual(records.map((record) => record.assetId).sort(), [...ODD_IDS].sort())
    for (const id of ODD_IDS) assert.equal(await store.delete(id), true)
  })

  check('refuses what is no id, no namespace or no type', async (store) => {
    const bytes = random(5)
    const names = ['content', 'asset_id', '.', '..', '', 'a\nb', '\ud800', 'a'.repeat(201)]
    for (const name of names) {
      for (const options of [{ assetId: name }, { namespace: name }]) {
        await rejects(store.save(bytes, 'image/png', options), 'invalid_reference')
      }
    }
    for (const mime of ['text/plain\r\nX-Evil: 1', 'text', '', 'a/b/c', 'text/plain; x']) {
      await rejects(store.save(bytes, mime), 'asset_invalid')
    }
    assert.deepEqual(await store.usage(), { assets: 0, bytes: 0 })
    assert.deepEqual(await store.namespaces(), [])
  })

  check('refuses an id that is taken, and keeps what it names', async (store) => {
    await store.save(Buffer.from('one'), 'text/plain', { assetId: 'mine' })
    const again = { assetId: 'mine' }
    await rejects(store.save(Buffer.from('two'), 'text/plain', again), 'asset_exists')
    await rejects(store.save(Buffer.from('one'), 'text/plain', again), 'asset_exists')
    await rejects(store.save(streamOf(random(9), 2), 'text/plain', again), 'asset_exists')
    assertBytes(await read(store, 'mine'), Buffer.from('one'))
    assert.deepEqual(await store.usage(), { assets: 1, bytes: 3 })
  })

  check('lets one of many win who want the same id at once', async (store) => {
    const bodies = Array.from({ length: 10 }, (_, i) => Buffer.from(i % 2 ? 'same' : `body ${i}`))
    const results = await Promise.allSettled(
      bodies.map((body) => store.save(body, 'text/plain', { assetId: 'mine' })),
    )
    const won = results.findIndex((result) => result.status === 'fulfilled')
    for (const result of results) {
      if (result.status === 'rejected') await rejects(Promise.reject(result.reason), 'asset_exists')
    }
    assert.equal(results.filter((result) => result.status === 'fulfilled').length, 1)
    assertBytes(await read(store, 'mine'), bodies[won] as Uint8Array)
    assert.equal((await store.usage()).assets, 1)
    await assertSound(store)
  })
}

function testNamespaces(check: Check): void {
  check('keeps namespaces apart, in every method', async (store) => {
    const spaces = [null, 'a', 'A', 'a/b', '...', '../a', 'b', 'writers', '_', 'a'.repeat(200)]
    const ids = new Map<string | null, string>()
    for (const namespace of spaces) {
      const body = Buffer.from(`body of ${namespace}`)
      ids.set(namespace, (await store.save(body, 'text/plain', { namespace })).assetId)
    }
    for (const namespace of spaces) {
      const own = ids.get(namespace) as string
      assertBytes(await read(store, own, { namespace }), Buffer.from(`body of ${namespace}`))
      assert.equal((await store.info(own, { namespace }))?.namespace, namespace)
      const { records } = await store.list({ namespace })
      assert.deepEqual(
        records.map((record) => record.assetId),
        [own],
      )
      assert.equal((await store.usage({ namespace })).assets, 1)
      for (const foreign of spaces) {
        if (foreign !== namespace) await assertUnknown(store, own, { namespace: foreign })
      }
    }
    assert.deepEqual(new Set(await store.namespaces()), new Set(spaces))
    await store.delete(ids.get('a') as string, { namespace: 'a' })
    const left = spaces.filter((namespace) => namespace !== 'a')
    assert.deepEqual(new Set(await store.namespaces()), new Set(left))
  })

  check('takes the same id in two namespaces', async (store) => {
    await store.save(Buffer.from('one'), 'text/plain', { namespace: 'a', assetId: 'x' })
    await store.save(Buffer.from('two'), 'text/plain', { namespace: 'b', assetId: 'x' })
    assert.equal(await store.delete('x', { namespace: 'a' }), true)
    assertBytes(await read(store, 'x', { namespace: 'b' }), Buffer.from('two'))
  })

  check('never lends a body to another namespace', async (store) => {
    const bytes = random(1000)
    const a = await store.save(bytes, 'image/png', { namespace: 'a' })
    const b = await store.save(bytes, 'image/png', { namespace: 'b' })
    assert.equal((await store.usage({ namespace: 'b' })).bytes, 1000)
    await store.delete(a.assetId, { namespace: 'a' })
    assertBytes(await read(store, b.assetId, { namespace: 'b' }), bytes)
    const secret = { digest: digestOf(bytes), bytes }
    const holder = await store.save(Buffer.from('{}'), 'application/json', {
      namespace: 'c',
      parts: [secret],
      attributes: { structured: true },
    })
    assert.equal(await store.open(holder.assetId, { namespace: 'b', part: secret.digest }), null)
  })
}

function testSharing(check: Check): void {
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
      Array.from({ length: 8 }, async (_, worker) => {
        for (let i = 0; i < 12; i++) {
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

function testFailures(check: Check): void {
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
      { parts: [{ digest: digestOf(random(1)), bytes: random(1) }] },
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

function testAborts(check: Check): void {
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
      const late = new Promise((_, fail) => setTimeout(fail, 5_000, new Error('it still waits')))
      await assert.rejects(Promise.race([saving, late]), /enough/)
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

function testMedium(check: Check): void {
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

function testRetention(check: Check): void {
  const past = new Date(Date.now() - 1000).toISOString()

  check('does not know an asset past its time, and frees it', async (store) => {
    const bytes = random(700)
    const gone = await store.save(bytes, 'image/png', { expiresAt: past })
    const kept = await store.save(bytes, 'image/png')
    const later = new Date(Date.now() + 3_600_000).toISOString()
    const waiting = await store.save(random(8), 'image/png', { expiresAt: later })
    await assertUnknown(store, gone.assetId, {})
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

async function assertSound(store: FullAssetStore, options: StoreOptions = {}): Promise<void> {
  for await (const found of store.verify(options)) assert.equal(found.problem, null)
}

async function assertUnknown(
  store: FullAssetStore,
  assetId: string,
  options: StoreSaveOptions,
): Promise<void> {
  assert.equal(await store.info(assetId, options), null)
  assert.equal(await store.open(assetId, { ...options, keep: true }), null)
  assert.equal(await store.object(assetId, 0, options), null)
  await rejects(store.get(assetId, options), 'asset_not_found')
  await rejects(store.urlFor(assetId, options), 'asset_not_found')
  await rejects(store.urlFor(assetId, { ...options, inline: true }), 'asset_not_found')
  assert.equal(await store.delete(assetId, options), false)
}

async function read(
  store: FullAssetStore,
  assetId: string,
  options: Parameters<FullAssetStore['open']>[1] = {},
): Promise<Uint8Array> {
  const opened = await store.open(assetId, { ...options, keep: true })
  assert.ok(opened, `asset ${assetId} is known`)
  const bytes = new Uint8Array(await new Response(opened.stream).arrayBuffer())
  assert.equal(bytes.byteLength, opened.end - opened.start)
  return bytes
}

async function rejects(promise: Promise<unknown>, code: string): Promise<void> {
  const error = await failureOf(promise)
  // Whether that is allowed depends on the store.
  if (isUnsupported(error) && code !== 'asset_unsupported') throw error
  assertCode(error, code)
}

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  assert.fail('it should have failed')
}

function isUnsupported(error: unknown): boolean {
  return error instanceof ByrefError && error.code === 'asset_unsupported'
}

function assertCode(error: unknown, code: string): void {
  assert.ok(error instanceof ByrefError, `a ByrefError, not ${error}`)
  assert.equal(error.code, code)
}

async function assertEmpty(store: FullAssetStore): Promise<void> {
  assert.deepEqual(await store.list(), { records: [], next: null })
  assert.deepEqual(await store.usage(), { assets: 0, bytes: 0 })
  await assertSound(store)
}

/** A stream of `count` kilobytes that then neither goes on nor ends; tells how much was read, and if it was cancelled. */
function endless(count: number, onPull: (pulled: number) => void = () => {}) {
  let pulled = 0
  let cancelled = false
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (pulled >= count) return new Promise<void>(() => {})
        onPull(++pulled)
        controller.enqueue(random(1000))
      },
      cancel() {
        cancelled = true
        return new Promise<void>(() => {})
      },
    },
    { highWaterMark: 0 },
  )
  return { stream, pulled: () => pulled, cancelled: () => cancelled }
}

/** Compares without printing megabytes. */
function assertBytes(actual: Uint8Array, expected: Uint8Array): void {
  assert.equal(actual.byteLength, expected.byteLength)
  assert.ok(Buffer.from(actual).equals(expected), 'the bytes are the same')
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function random(size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size)
  for (let at = 0; at < size; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536))
  return bytes
}

function streamOf(bytes: Uint8Array, chunk: number): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.byteLength) return controller.close()
      controller.enqueue(bytes.slice(at, at + chunk))
      at += chunk
    },
  })
}
