import assert from 'node:assert/strict'
import type { StoreSaveOptions } from '../../assets/asset-store.ts'
import { type Check, random, rejects } from './check.ts'

export function testRecords(check: Check): void {
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
    const deletions = await Promise.all(Array.from({ length: 5 }, () => store.delete(assetId)))
    assert.equal(deletions.filter((removed) => removed).length, 1)
  })
}
