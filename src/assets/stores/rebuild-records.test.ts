import { describe, expect, it } from 'vitest'
import type { BodyStore } from '../bodies/body-store.ts'
import { fsBodies } from '../bodies/fs-bodies.ts'
import { s3Bodies } from '../bodies/s3-bodies.ts'
import { createAssets } from '../create-assets.ts'
import { memoryConnector, testFolder } from '../fixtures/stores.ts'
import { memoryRecords } from '../records/memory-records.ts'
import { sqliteRecords } from '../records/sqlite-records.ts'
import { createStore } from './create-store.ts'
import { rebuildRecords } from './rebuild-records.ts'

const folder = testFolder()

describe.each<[string, () => BodyStore]>([
  ['fsBodies', () => fsBodies(`${folder}/${crypto.randomUUID()}`)],
  ['s3Bodies', () => s3Bodies({ bucket: 'b', connector: memoryConnector() })],
])('rebuildRecords from %s', (_, newBodies) => {
  it('restores everything of a lost index', async () => {
    const bodies = newBodies()
    const before = createStore({ records: memoryRecords(), bodies, recordFiles: true })
    const assets = createAssets({ store: before })
    const content = {
      rows: [{ a: 1 }],
      image: new Uint8Array([1, 2, 3]),
      same: Buffer.from('note'),
    }
    const table = await assets.saveAsset({ content_type: 'data', asset_name: 'rain', content })
    const note = await assets.save(Buffer.from('note'), 'text/plain', { name: 'note.txt' })
    const empty = await assets.save(new Uint8Array(), 'text/plain')
    const removed = await assets.save(Buffer.from('removed'), 'text/plain')
    await assets.delete(removed.ref)
    await before.save(Buffer.from('theirs'), 'text/plain', { namespace: 'a', assetId: 'mine' })
    await before.sweep()
    expect(await before.usage()).toEqual({ assets: 3, bytes: table.size + 3 + 4 })

    const records = sqliteRecords(':memory:')
    expect(await rebuildRecords({ records, bodies })).toEqual({ assets: 4, lost: [] })
    const store = createStore({ records, bodies, recordFiles: true })
    const after = createAssets({ store })
    expect(await after.list()).toEqual(await assets.list())
    expect(await after.resolve(table.ref)).toMatchObject({ rows: [{ a: 1 }] })
    expect(await after.resolve(`${table.ref}/content/same`)).toEqual(new Uint8Array(content.same))
    expect(await after.resolve(note.ref)).toBe('note')
    expect((await after.get(empty.ref)).bytes).toHaveLength(0)
    expect(Buffer.from((await store.get('mine', { namespace: 'a' })).bytes).toString()).toBe(
      'theirs',
    )
    expect(await store.usage()).toEqual(await before.usage())

    expect(await rebuildRecords({ records, bodies })).toEqual({ assets: 0, lost: [] })
    const later = { now: Date.now() + 48 * 3_600_000 }
    expect(await store.sweep(later)).toMatchObject({ assets: 0, bodies: 0, leftovers: 0 })
    for (const namespace of [null, 'a']) {
      for await (const { problem } of store.verify({ namespace })) expect(problem).toBe(null)
      for (const { assetId } of (await store.list({ namespace })).records) {
        await store.delete(assetId, { namespace })
      }
    }
    const left: string[] = []
    for await (const { key } of bodies.list('')) left.push(key)
    expect(left).toEqual([expect.stringMatching(/^owner\//)])
  })

  it('reports what is lost: missing or changed bodies, and unreadable records', async () => {
    const bodies = newBodies()
    const before = createStore({ records: memoryRecords(), bodies, recordFiles: true })
    const saved = []
    for (const text of ['kept', 'gone', 'flipped', 'broken']) {
      saved.push((await before.save(Buffer.from(text), 'text/plain', { assetId: text })).assetId)
    }
    for await (const { key, size } of bodies.list('')) {
      const text = await new Response(await bodies.open(key, { start: 0, end: size, size })).text()
      const isBroken = key.endsWith('.record') && text.includes('"broken"')
      if (text !== 'gone' && text !== 'flipped' && !isBroken) continue
      await bodies.delete(key)
      const other = Buffer.from(isBroken ? text.slice(0, 50) : 'flopped')
      if (text !== 'gone') await bodies.put(key, other, { mime: 'text/plain' })
    }
    const records = memoryRecords()
    const { assets, lost } = await rebuildRecords({ records, bodies })
    expect([assets, lost.length]).toEqual([1, 3])
    for (const key of lost) expect(key).toMatch(/^_\/\w{4}\/\w+\.record$/)
    const { entries } = await records.list(null, { after: null, limit: 9, now: Date.now() })
    expect(entries.map(({ record }) => record.assetId)).toEqual(['kept'])
  })
  it('changes nothing if there are no records: a sweep would remove every body', async () => {
    const bodies = newBodies()
    const before = createStore({ records: memoryRecords(), bodies })
    await before.save(Buffer.from('kept'), 'text/plain')
    await before.sweep()
    const records = memoryRecords()
    await expect(rebuildRecords({ records, bodies })).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('recordFiles'),
    })
    const later = { now: Date.now() + 48 * 3_600_000 }
    await expect(createStore({ records, bodies }).sweep(later)).rejects.toMatchObject({
      code: 'config_invalid',
    })
  })
})
