import assert from 'node:assert/strict'
import type { AssetRecord } from '../assets/asset-store.ts'
import type { NewEntry, RecordIndex } from '../assets/records/record-index.ts'
import { rejects } from './asset-store/check.ts'
import type { TestFunction } from './conversation-log.ts'

/**
 * Tests for the contract of {@link RecordIndex}.
 *
 * @param create Returns a new, empty index. Called once per test.
 * @param test Your runner's `test` function.
 */
export function testRecordIndex(
  create: () => RecordIndex | Promise<RecordIndex>,
  test: TestFunction,
): void {
  const check = (name: string, run: (index: RecordIndex, now: number) => Promise<void>) =>
    test(name, async () => {
      const index = await create()
      try {
        assert.equal(await index.open(), await index.open(), 'it has one id')
        await run(index, Date.now())
      } finally {
        await index.close()
      }
    })

  check('keeps a record with where its bodies lie', async (index) => {
    const entry = entryOf('a', { bodies: [body('x', 'k1'), body('y', 'k2', 7)] })
    assert.deepEqual(await index.add(entry), { unused: [], missing: [] })
    const found = await index.get(null, 'a')
    assert.deepEqual(found?.record, entry.record)
    assert.deepEqual(found?.bodies, entry.bodies)
    assert.equal(await index.get('other', 'a'), null)
    assert.equal(await index.get(null, 'b'), null)
  })

  check('refuses an id that is used, and lets one of many have it', async (index) => {
    const adding = await Promise.allSettled(
      Array.from({ length: 9 }, (_, i) =>
        index.add(entryOf('mine', { bodies: [body('x', `k${i}`)] })),
      ),
    )
    assert.equal(adding.filter(({ status }) => status === 'fulfilled').length, 1)
    await rejects(index.add(entryOf('mine')), 'asset_exists')
    const there = await index.get(null, 'mine')
    assert.deepEqual(
      await index.held(['k0', 'k9']),
      new Set(there?.bodies[0]?.key === 'k0' ? ['k0'] : []),
    )
  })

  check(
    'keeps one body of a digest in a namespace, and says which is not needed',
    async (index) => {
      await index.add(entryOf('a', { bodies: [body('x', 'k1')] }))
      const again = await index.add(entryOf('b', { bodies: [body('x', 'k2'), body('y', 'k3')] }))
      assert.deepEqual(again, { unused: ['k2'], missing: [] })
      assert.equal((await index.get(null, 'b'))?.bodies[0]?.key, 'k1')
      assert.deepEqual(await index.bodies(null, [digest('x'), digest('z')]), [body('x', 'k1')])
      assert.deepEqual(await index.bodies('other', [digest('x')]), [])
      const elsewhere = entryOf('a', { namespace: 'other', bodies: [body('x', 'k4')] })
      assert.deepEqual(await index.add(elsewhere), { unused: [], missing: [] })
      assert.deepEqual(await index.held(['k1', 'k2', 'k3', 'k4']), new Set(['k1', 'k3', 'k4']))
    },
  )

  check('adds nothing that counts on a body that is not there', async (index) => {
    const counted = { ...body('x', ''), key: null }
    const result = await index.add(entryOf('a', { bodies: [counted, body('y', 'k1')] }))
    assert.deepEqual(result.missing, [digest('x')])
    assert.equal(await index.get(null, 'a'), null)
    assert.deepEqual(await index.held(['k1']), new Set())
    await index.add(entryOf('b', { bodies: [body('x', 'k2')] }))
    assert.deepEqual((await index.add(entryOf('a', { bodies: [counted] }))).missing, [])
    assert.equal((await index.get(null, 'a'))?.bodies[0]?.key, 'k2')
  })

  check('frees a body with the last record that needs it', async (index, now) => {
    await index.add(entryOf('a', { bodies: [body('x', 'k1'), body('y', 'k2')] }))
    await index.add(entryOf('b', { bodies: [body('x', 'k3')] }))
    assert.deepEqual(await index.remove(null, 'a', { now }), [body('y', 'k2')])
    assert.equal(await index.remove(null, 'a', { now }), null)
    assert.equal(await index.remove('other', 'b', { now }), null)
    assert.deepEqual(await index.remove(null, 'b', { now }), [body('x', 'k1')])
    assert.deepEqual(await index.held(['k1', 'k2', 'k3']), new Set())
    assert.deepEqual(await index.usage(null, now), { assets: 0, bytes: 0 })
    assert.deepEqual(await index.bodies(null, [digest('x')]), [])
  })

  check('lists what lives, newest first, from any place', async (index, now) => {
    for (let i = 0; i < 7; i++) {
      const createdAt = new Date(now + Math.floor(i / 2)).toISOString()
      await index.add(entryOf(`id${i}`, { createdAt }))
    }
    await index.add(entryOf('over', { expiresAt: new Date(now - 1).toISOString() }))
    const found: string[] = []
    let after: AssetRecord | null = null
    do {
      const page: Awaited<ReturnType<RecordIndex['list']>> = await index.list(null, {
        after,
        limit: 3,
        now,
      })
      found.push(...page.entries.map(({ record }) => record.assetId))
      after = page.next as AssetRecord | null
    } while (after)
    assert.deepEqual(found, ['id6', 'id5', 'id4', 'id3', 'id2', 'id1', 'id0'])
    assert.deepEqual((await index.list('other', { after: null, limit: 3, now })).entries, [])
  })

  check('tells what is over, and removes it only as that', async (index, now) => {
    const expiresAt = new Date(now + 1000).toISOString()
    await index.add(entryOf('soon', { expiresAt, namespace: 'n', bodies: [body('x', 'k1')] }))
    await index.add(entryOf('kept', { namespace: 'n', bodies: [body('x', 'k2'), body('y', 'k3')] }))
    await index.add(entryOf('alone', { expiresAt, namespace: 'm', bodies: [body('z', 'k4')] }))
    const later = now + 1000
    assert.deepEqual(await index.expired(now, 10), [])
    const over = (await index.expired(later, 10)).map(({ namespace, assetId }) => [
      namespace,
      assetId,
    ])
    assert.deepEqual(over.sort(), [
      ['m', 'alone'],
      ['n', 'soon'],
    ])
    assert.equal((await index.expired(later, 1)).length, 1)
    assert.deepEqual(await index.usage('n', now), { assets: 2, bytes: 6 })
    assert.deepEqual(await index.usage('n', later), { assets: 1, bytes: 6 })
    assert.deepEqual(await index.usage('m', later), { assets: 0, bytes: 0 })
    assert.deepEqual(new Set(await index.namespaces(now)), new Set(['n', 'm']))
    assert.deepEqual(await index.namespaces(later), ['n'])
    assert.equal(await index.remove('n', 'soon', { now, expired: true }), null)
    assert.equal(await index.remove('n', 'soon', { now: later }), null)
    assert.deepEqual(await index.remove('n', 'soon', { now: later, expired: true }), [])
    assert.deepEqual(await index.remove('m', 'alone', { now: later, expired: true }), [
      body('z', 'k4'),
    ])
    assert.deepEqual(await index.namespaces(now), ['n'])
  })

  check('keeps within a quota, and refuses nothing that has room', async (index, now) => {
    const quota = { assets: 5, bytes: 10 }
    const add = (id: string, bodies: NewEntry['bodies'], expiresAt?: string) =>
      index.add(entryOf(id, { bodies, ...(expiresAt && { expiresAt }) }), quota)
    await add('a', [body('x', 'k1', 6)])
    await rejects(add('b', [body('y', 'k2', 5)]), 'quota_exceeded')
    await add('b', [body('x', 'k2', 6)])
    await add('c', [body('y', 'k3', 4)])
    await add('d', [body('x', 'k4', 6), body('y', 'k5', 4)])
    await rejects(add('e', [body('z', 'k6', 1)]), 'quota_exceeded')
    await add('e', [body('x', 'k7', 6)])
    await rejects(add('f', [body('x', 'k8', 6)]), 'quota_exceeded')
    await index.remove(null, 'e', { now })
    await index.remove(null, 'c', { now })
    await index.remove(null, 'd', { now })
    // Expired records do not count towards the quota, even if they still exist.
    const past = new Date(now - 1).toISOString()
    await add('over', [body('w', 'k9', 4)], past)
    await add('g', [body('v', 'k10', 4)])
    assert.deepEqual(await index.usage(null, now), { assets: 3, bytes: 10 })
    const many = Array.from({ length: 20 }, (_, i) => {
      const entry = entryOf(`m${i}`, { namespace: 'many', bodies: [body(`m${i}`, `m${i}`, 3)] })
      return index.add(entry, quota)
    })
    const added = (await Promise.allSettled(many)).filter(({ status }) => status === 'fulfilled')
    assert.equal(added.length, 3)
    assert.deepEqual(await index.usage('many', now), { assets: 3, bytes: 9 })
  })

  check('gives copies', async (index) => {
    await index.add(entryOf('a'))
    const found = await index.get(null, 'a')
    if (found) found.record.attributes.by = 'changed'
    assert.deepEqual((await index.get(null, 'a'))?.record.attributes, {})
  })
}

function digest(name: string): string {
  return Buffer.from(name.padEnd(32, '-')).toString('hex')
}

function body(name: string, key: string, size = 3) {
  return { digest: digest(name), size, key }
}

function entryOf(
  assetId: string,
  {
    bodies = [body(assetId, `key-${assetId}`)],
    ...about
  }: Partial<AssetRecord> & { bodies?: NewEntry['bodies'] } = {},
): NewEntry {
  const record: AssetRecord = {
    version: 1,
    assetId,
    namespace: null,
    mime: 'image/png',
    kind: 'image',
    size: bodies[0]?.size ?? 0,
    digest: bodies[0]?.digest ?? '',
    name: null,
    createdAt: '2026-01-01T00:00:00.000Z',
    expiresAt: null,
    attributes: {},
    parts: bodies.slice(1).map(({ digest, size }) => ({ digest, size })),
    ...about,
  }
  return { record, bodies }
}
