import { describe, expect, it } from 'vitest'
import { createAssets } from '../../assets/create-assets.ts'
import { PNG } from '../../assets/fixtures/stores.ts'
import { createMemoryAssetStore } from '../../assets/stores/memory.ts'
import { OFFLOADED_TYPE } from '../../core/messages/offloaded.ts'
import { sameAssets } from '../same-assets.ts'

const png = new Uint8Array(PNG)
const table = {
  asset_type: OFFLOADED_TYPE,
  content_type: 'application/json',
  content: [{ a: 1 }],
}

describe('sameAssets', () => {
  it('keeps one asset for equal content, also concurrently and in another process', async () => {
    const store = createMemoryAssetStore()
    const [one, other] = [createAssets({ store }), createAssets({ store })].map(sameAssets)
    const saved = await Promise.all([
      one?.save(png, 'image/png'),
      one?.save(png.slice(), 'image/png'),
      other?.save(png, 'image/png'),
      one?.scoped({ by: 'tool' }).save(png, 'image/png'),
    ])
    expect(new Set(saved.map((info) => info?.ref)).size).toBe(1)
    const structured = await Promise.all([one?.saveAsset(table), other?.saveAsset({ ...table })])
    expect(new Set(structured.map((info) => info?.ref)).size).toBe(1)
    expect(await one?.usage()).toMatchObject({ assets: 2 })
  })

  it('keeps separate assets for different content, names or types', async () => {
    const assets = sameAssets(createAssets())
    const refs = [
      await assets.save(png, 'image/png'),
      await assets.save(png, 'image/png', { name: 'dot.png' }),
      await assets.save(Buffer.from('a'), 'text/plain'),
      await assets.save(Buffer.from('a'), 'text/csv'),
      await assets.saveAsset(table),
      await assets.saveAsset({ ...table, asset_name: 'A table' }),
      // Values that JSON cannot represent are not compared by their JSON.
      await assets.saveAsset({ content_type: 'data', content: new Map([['a', 1]]) }),
      await assets.saveAsset({ content_type: 'data', content: new Map([['a', 2]]) }),
    ].map(({ ref }) => ref)
    expect(new Set(refs).size).toBe(8)
  })

  it('saves a long result as it is at the time of the call', async () => {
    const assets = sameAssets(createAssets())
    const content = [{ a: 1 }]
    const saving = assets.saveAsset({ ...table, content })
    content.push({ a: 2 })
    const { ref } = await saving
    expect(await assets.resolve(`${ref}/content`)).toEqual([{ a: 1 }])
    expect((await assets.saveAsset(table)).ref).toBe(ref)
    const text = { ...table, content_type: 'text/plain', content: 'a long text' }
    const page = await assets.saveAsset(text)
    expect(Buffer.from((await assets.get(page.ref)).bytes).toString()).toBe('a long text')
    expect((await assets.saveAsset(text)).ref).toBe(page.ref)
  })

  it('copies bytes that their owner may change', async () => {
    const assets = sameAssets(createAssets())
    const bytes = Buffer.from('before')
    const saving = assets.save(bytes, 'text/plain')
    bytes.write('after!')
    const { ref } = await saving
    expect(Buffer.from((await assets.get(ref)).bytes).toString()).toBe('before')
    expect((await assets.save(Buffer.from('before'), 'text/plain')).ref).toBe(ref)
  })

  it('saves again what was deleted', async () => {
    const assets = sameAssets(createAssets())
    const first = await assets.save(png, 'image/png')
    await assets.delete(first.ref)
    const second = await assets.save(png, 'image/png')
    expect(second.ref).toBe(first.ref)
    expect(await assets.get(second.ref)).toMatchObject({ mime: 'image/png' })
  })

  it('passes on errors of a store', async () => {
    const assets = sameAssets(createAssets({ config: { limits: { bodyBytes: 10 } } }))
    await expect(assets.save(png, 'image/png')).rejects.toThrow(/limit for one asset/)
  })
})
