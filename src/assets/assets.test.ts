import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAssets } from './assets.ts'
import { createFsAssetStore } from './fs.ts'
import { createMemoryAssetStore } from './memory.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'byref-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const stores = {
  memory: () => createMemoryAssetStore(),
  fs: () => createFsAssetStore({ rootDir: join(folder, String(Math.random())) }),
}

describe.each(Object.entries(stores))('createAssets on %s', (_, store) => {
  it('saves, reads and deletes', async () => {
    const assets = createAssets({ store: store() })
    const info = await assets.save(new TextEncoder().encode('a,b\n1,2\n'), null, { name: 'x.csv' })
    expect(info).toMatchObject({ mime: 'text/csv', kind: 'file', size: 8, name: 'x.csv' })
    expect(await assets.resolve(info.ref)).toBe('a,b\n1,2\n')
    expect((await assets.list()).assets).toEqual([info])
    const opened = await assets.open(info.assetId, { start: -4 })
    expect(await new Response(opened.stream).text()).toBe('1,2\n')
    expect(await assets.getDataUrl(info.ref)).toBe('data:text/csv;base64,YSxiCjEsMgo=')
    expect(await assets.delete(info.ref)).toBe(true)
    await expect(assets.info(info.ref)).rejects.toMatchObject({ code: 'asset_not_found' })
  })

  it('imports a table', async () => {
    const assets = createAssets({ store: store() })
    const csv = 'date,rain,ok\n2012/01/01,0.5,true\n2012/01/02,,false\n'
    const { asset, table } = await assets.importFile(new Blob([csv]), { name: 'w.csv' })
    expect(await assets.resolve(`${table?.ref}/content/rows`)).toEqual([
      { date: '2012-01-01', rain: 0.5, ok: true },
      { date: '2012-01-02', rain: null, ok: false },
    ])
    expect(await assets.resolve(`${table?.ref}/content/source`)).toBe(asset.ref)
    expect(await assets.meta(table?.ref ?? '')).toMatchObject({
      asset_id: table?.assetId,
      asset_type: 'table',
      content: { columns: [{ name: 'date', type: 'date', missing: 0 }, {}, {}] },
    })
    await expect(
      assets.importFile(new Blob(['a,b\n1,2\n1,2,3\n']), { name: 'bad.csv' }),
    ).rejects.toMatchObject({ code: 'table_invalid', line: 3, asset: { mime: 'text/csv' } })
  })

  it('keeps structured content with bytes at its leaves', async () => {
    const assets = createAssets({ store: store() })
    const content = {
      image: new Uint8Array([1, 2, 3]),
      labels: ['a', null],
      at: new Date(5),
      n: 7n,
    }
    const info = await assets.saveAsset({ content_type: "<class 'dict'>", content })
    expect(await assets.resolve(info.ref)).toEqual(content)
    expect(await assets.resolve(`${info.ref}/content/labels/0`)).toBe('a')
    expect((await assets.get(`${info.ref}/content/image`)).bytes).toEqual(content.image)
    expect(await assets.meta(info.ref)).toMatchObject({
      content: { image: "<class 'Uint8Array'>", labels: ['a', "<class 'NoneType'>"] },
    })
  })
})
