import assert from 'node:assert/strict'
import {
  assertBytes,
  assertSound,
  assertUnknown,
  type Check,
  digestOf,
  random,
  read,
  rejects,
  streamOf,
} from './check.ts'

/** Ids that are ambiguous on some file systems or in some URLs. */
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

export function testIds(check: Check): void {
  check('makes ids of its own, each another', async (store) => {
    const saved = await Promise.all(
      Array.from({ length: 20 }, () => store.save(random(3), 'image/png')),
    )
    assert.equal(new Set(saved.map((one) => one.assetId)).size, 20)
  })

  check('takes ids of any letters, and keeps them apart', async (store) => {
    const each = (act: (id: string) => Promise<unknown>) => Promise.all(ODD_IDS.map(act))
    await each((id) => store.save(Buffer.from(id), 'text/plain', { assetId: id }))
    await each(async (id) => {
      assertBytes(await read(store, id), Buffer.from(id))
      assert.equal((await store.info(id))?.assetId, id)
    })
    const { records } = await store.list()
    assert.deepEqual(records.map((record) => record.assetId).sort(), [...ODD_IDS].sort())
    await each(async (id) => assert.equal(await store.delete(id), true))
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
    const bodies = Array.from({ length: 6 }, (_, i) => Buffer.from(i % 2 ? 'same' : `body ${i}`))
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

export function testNamespaces(check: Check): void {
  check('keeps namespaces apart, in every method', async (store) => {
    // Similar names are used next to each other.
    const spaces = ['A', 'a', 'a/b', '../a', '...', 'b', null, '_', 'writers', 'a'.repeat(200)]
    const ids = new Map<string | null, string>()
    for (const namespace of spaces) {
      const body = Buffer.from(`body of ${namespace}`)
      ids.set(namespace, (await store.save(body, 'text/plain', { namespace })).assetId)
    }
    for (const [i, namespace] of spaces.entries()) {
      const assetId = ids.get(namespace) as string
      assertBytes(await read(store, assetId, { namespace }), Buffer.from(`body of ${namespace}`))
      assert.equal((await store.info(assetId, { namespace }))?.namespace, namespace)
      const { records } = await store.list({ namespace })
      assert.deepEqual(
        records.map((record) => record.assetId),
        [assetId],
      )
      assert.equal((await store.usage({ namespace })).assets, 1)
      const others = [-2, -1, 1, 2].map((step) => spaces.at((i + step) % spaces.length) ?? null)
      await Promise.all(others.map((other) => assertUnknown(store, assetId, { namespace: other })))
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
