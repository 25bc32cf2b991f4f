import { describe, expect, it } from 'vitest'
import { testAssetStore } from '../../testing/asset-store/asset-store.ts'
import type { Assets } from '../assets-contract.ts'
import { createAssets } from '../create-assets.ts'
import { PNG } from '../fixtures/stores.ts'
import { createPassthroughStore } from './passthrough.ts'

const text = (value: Uint8Array) => Buffer.from(value).toString()
const code = (name: string) => expect.objectContaining({ code: name })

describe('createPassthroughStore', () => {
  testAssetStore(() => createPassthroughStore(), it)

  it('counts what it currently holds', async () => {
    const store = createPassthroughStore({ maxBytes: 300, maxRecords: 2 })
    for (let i = 0; i < 50; i++) await store.save(new Uint8Array(100).fill(i), 'text/plain')
    expect(await store.usage()).toEqual({ assets: 2, bytes: 200 })
    const { records } = await store.list()
    for (const { assetId } of records) {
      expect((await store.get(assetId)).bytes).toHaveLength(100)
    }
    expect(await store.usage()).toEqual({ assets: 2, bytes: 0 })
  })
})

describe('createAssets on passthrough', () => {
  it('leaves the only read to the application; a second read reports why it fails', async () => {
    const seen: string[] = []
    const assets = createAssets({
      store: createPassthroughStore(),
      onEvent: (event) => seen.push((event.payload as unknown as { base64: string }).base64),
    })
    const { ref } = await assets.save(PNG)
    expect(seen).toEqual([PNG.toString('base64')])
    expect(await assets.info(ref)).toMatchObject({ mime: 'image/png' })
    await assets.meta(ref)
    await assets.list()
    expect((await assets.get(ref)).bytes.byteLength).toBe(PNG.byteLength)
    for (const read of [
      assets.get(ref),
      assets.getDataUrl(ref),
      assets.open(ref),
      assets.resolve(ref),
    ]) {
      await expect(read).rejects.toThrow(/gone: it was read before.*ASSET_CREATED/)
      await expect(read).rejects.toEqual(code('asset_not_found'))
    }
    expect(await assets.info(ref)).toMatchObject({ mime: 'image/png' })
  })

  it('counts any public read as the only one', async () => {
    const reads: ((assets: Assets, ref: string) => Promise<unknown>)[] = [
      (assets, ref) => assets.getBase64(ref),
      (assets, ref) => assets.getDataUrl(ref),
      async (assets, ref) => {
        const { stream } = await assets.open(ref, { start: 0, end: 1 })
        return new Response(stream).text()
      },
      (assets, ref) => assets.urlFor(ref, { inline: true }),
      (assets, ref) => assets.resolve(ref),
    ]
    for (const read of reads) {
      const assets = createAssets({ store: createPassthroughStore() })
      const { ref } = await assets.save(PNG)
      await read(assets, ref)
      await expect(assets.get(ref)).rejects.toThrow('read before')
    }
  })

  it('reads large JSON, and a large file that is not JSON', async () => {
    const value = { a: 'x'.repeat(1_200_000) }
    for (const json of [JSON.stringify(value), `${JSON.stringify(value)} and more`]) {
      const assets = createAssets({ store: createPassthroughStore() })
      const { ref } = await assets.save(Buffer.from(json), 'application/json')
      const found = await assets.resolve(ref)
      expect(typeof found === 'string' ? found : JSON.stringify(found)).toBe(json)
      await expect(assets.resolve(ref)).rejects.toThrow('read before')
    }
  })

  it('does not count a body that is opened and never read', async () => {
    const assets = createAssets({ store: createPassthroughStore() })
    const { ref } = await assets.save(PNG)
    const { stream } = await assets.open(ref)
    await stream.cancel()
    await assets.open(ref)
    expect((await assets.get(ref)).bytes).toHaveLength(PNG.byteLength)
  })

  it('imports tables without consuming the file, and returns their rows once', async () => {
    const assets = createAssets({ store: createPassthroughStore() })
    const { asset, table } = await assets.importFile(Buffer.from('a,b\n1,2\n'), { name: 'x.csv' })
    expect(text((await assets.get(asset.ref)).bytes)).toBe('a,b\n1,2\n')
    expect(await assets.resolve(`${table?.ref}/content/rows`)).toEqual([{ a: 1, b: 2 }])
    await expect(assets.resolve(`${table?.ref}/content/rows`)).rejects.toThrow('read before')
  })

  it('releases unread bodies: after a time, and above a number of bytes', async () => {
    const brief = createAssets({ store: createPassthroughStore({ ttlMs: 0 }) })
    const { ref } = await brief.save(PNG)
    await expect(brief.get(ref)).rejects.toThrow('nobody read it in time')
    const small = createAssets({ store: createPassthroughStore({ maxBytes: 250 }) })
    const saved = []
    for (let i = 0; i < 3; i++) saved.push(await small.save(new Uint8Array(100).fill(i)))
    await expect(small.get(saved[0]?.ref ?? '')).rejects.toThrow('make room')
    expect((await small.get(saved[2]?.ref ?? '')).bytes.byteLength).toBe(100)
    const big = await small.save(new Blob([new Uint8Array(251)]))
    await expect(small.get(big.ref)).rejects.toThrow('larger than 250 bytes')
    expect((await small.info(big.ref)).size).toBe(251)
  })
})
