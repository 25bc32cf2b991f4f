import { describe, expect, it } from 'vitest'
import { testAssetStore } from '../../testing/asset-store.ts'
import type { AssetStore } from '../asset-store.ts'
import { createAssets } from '../assets.ts'
import { PNG, threeMethods } from '../fixtures/stores.ts'

const code = (name: string) => expect.objectContaining({ code: name })

function fourMethods(): AssetStore {
  const deleted = new Set<string>()
  const store = threeMethods()
  return {
    ...store,
    get: async (assetId) => {
      if (deleted.has(assetId)) throw new Error('it was removed')
      return store.get(assetId)
    },
    delete: async (assetId: string) => deleted.add(assetId),
  } as AssetStore
}

describe('a store of three methods', () => {
  testAssetStore(threeMethods, it)
})

describe('a store of three methods that can delete', () => {
  testAssetStore(fourMethods, it)
})

describe('createAssets on a store of three methods', () => {
  it('knows its assets again after a restart, in their namespaces', async () => {
    const store = threeMethods()
    const config = { namespacing: { mode: 'context' } } as const
    const created: unknown[] = []
    const before = createAssets({ store, config, onEvent: (event) => created.push(event.payload) })
    const { ref } = await before.save(PNG, null, { namespace: 'a', name: 'x.png' })
    const table = await before.saveAsset(
      { content_type: 'data', content: { n: 1n } },
      { namespace: 'a' },
    )
    const after = createAssets({ store, config })
    await expect(after.get(ref, { namespace: 'a' })).rejects.toEqual(code('asset_not_found'))
    const log = JSON.parse(JSON.stringify(created))
    for (const event of log) after.remember(event, { namespace: 'b' })
    await expect(after.get(ref, { namespace: 'b' })).rejects.toEqual(code('asset_not_found'))
    for (const event of log) after.remember(event, { namespace: 'a' })
    expect(await after.info(ref, { namespace: 'a' })).toMatchObject({
      name: 'x.png',
      kind: 'image',
    })
    expect((await after.get(ref, { namespace: 'a' })).bytes.byteLength).toBe(PNG.byteLength)
    expect(await after.resolve(`${table.ref}/content/n`, { namespace: 'a' })).toBe(1n)
    await expect(after.get(ref, { namespace: 'b' })).rejects.toEqual(code('asset_not_found'))
  })

  it('finds what was saved before, where there are no namespaces', async () => {
    const store = threeMethods()
    const before = createAssets({ store })
    const { ref } = await before.save(PNG)
    const table = await before.saveAsset({
      content_type: 'data',
      content: { image: new Uint8Array(PNG) },
    })
    const after = createAssets({ store })
    expect(await after.info(ref)).toMatchObject({ mime: 'image/png', size: PNG.byteLength })
    expect(await after.meta(table.ref)).toEqual(await before.meta(table.ref))
    expect(await after.resolve(`${table.ref}/content/image/1`)).toBe(0x50)
  })

  it('uses its URLs, and names what it cannot do', async () => {
    const assets = createAssets({ store: threeMethods() })
    const { ref, assetId } = await assets.save(PNG)
    expect(await assets.urlFor(ref)).toBe(`https://example.com/${assetId}`)
    expect(await assets.urlFor(ref, { inline: true })).toMatch(/^data:/)
    await expect(assets.delete(ref)).rejects.toThrow('no method "delete"')
    const broken = createAssets({
      store: { ...threeMethods(), save: () => Promise.reject(new Error('kaputt')) },
    })
    await expect(broken.save(PNG)).rejects.toThrow('kaputt')
    await expect(broken.save(PNG)).rejects.toEqual(code('storage_failed'))
  })
})
