import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { ByrefError } from '../../core/errors.ts'
import type { AssetEvent } from '../../core/events/events.ts'
import type { AssetsConfig } from '../assets-config.ts'
import { createAssets } from '../create-assets.ts'
import { createMemoryAssetStore } from '../stores/memory.ts'
import { extractAssets } from './extract.ts'
import { extract, PNG, png, pngBytes, pngUrl, ref } from './fixtures/extracted.ts'

describe('extractAssets, where something is wrong', () => {
  it('replaces what cannot be decoded by an error, and saves the rest', async () => {
    const events: AssetEvent[] = []
    const { value, created, errors } = await extract(
      {
        bad: { mimeType: 'image/png', dataBase64: '***', caption: 'kept' },
        good: { mimeType: 'image/png', dataBase64: PNG },
        url: 'data:image/png;base64,A',
        text: 'see data:image/png;base64,A here',
      },
      { events },
    )
    const assetError = { code: 'asset_invalid', message: expect.any(String) }
    expect(value).toEqual({
      bad: { assetError, mimeType: 'image/png', caption: 'kept' },
      good: png,
      url: { assetError, mimeType: 'image/png' },
      text: expect.stringMatching(/^see \[asset error: .+\] here$/),
    })
    expect(created).toHaveLength(1)
    expect(errors.map((one) => one.origin).sort()).toEqual(['/bad', '/text', '/url'])
    expect(errors[0]).toMatchObject({
      code: 'asset_invalid',
      by: 'tool',
      tool: 't',
      toolCallId: 'c',
    })
    expect(events.map((event) => event.type).sort()).toEqual([
      'ASSET_CREATED',
      'ASSET_ERROR',
      'ASSET_ERROR',
      'ASSET_ERROR',
    ])
    expect(JSON.stringify([value, events])).not.toContain('***')
  })

  it('puts an error in place of a value that cannot be read', async () => {
    const getter = {
      get broken(): unknown {
        throw new Error('no such thing')
      },
      good: pngBytes,
    }
    const fail = () => {
      throw new Error('trap')
    }
    const proxy = new Proxy({}, { ownKeys: fail, getPrototypeOf: fail, get: fail })
    const { proxy: revoked, revoke } = Proxy.revocable([], {})
    revoke()
    const value = { getter, proxy, list: [revoked], data: { mimeType: 'a/b', data: proxy } }
    const { value: out, errors } = await extract(value)
    const because = (message: string) => ({
      assetError: { code: 'asset_invalid', message: expect.stringContaining(message) },
    })
    expect(out).toEqual({
      getter: { broken: because('no such thing'), good: png },
      proxy: because('trap'),
      list: [because('revoked')],
      data: because('trap'),
    })
    expect(errors.map(({ origin }) => origin).sort()).toEqual([
      '/data',
      '/getter/broken',
      '/list/0',
      '/proxy',
    ])
  })

  it('rejects base64 with spaces in it, and empty images', async () => {
    const { value } = await extract([
      { type: 'file', mimeType: 'text/plain', data: 'hello world' },
      { mimeType: 'image/png', dataBase64: '' },
      { dataUrl: 'data:image/png;base64,' },
      { mimeType: 'text/plain', dataBase64: '' },
      { mimeType: 'image/png', dataBase64: `${PNG.replace(/.{76}/g, '$&\r\n')}\n` },
    ])
    expect(value).toMatchObject([
      { assetError: { code: 'asset_invalid' } },
      { assetError: { message: 'The body is empty, so it is not a valid image file.' } },
      { assetError: { message: 'The body is empty, so it is not a valid image file.' } },
      { assetRef: ref, mimeType: 'text/plain' },
      png,
    ])
  })

  it('rejects empty images in every form', async () => {
    const type = 'image/png'
    const { value } = await extract([
      { mimeType: type, dataBase64: '' },
      new Blob([], { type }),
      new File([], 'x.png', { type }),
      { data: new Blob([], { type }) },
      new Blob([], { type: 'text/plain' }),
    ])
    const message = 'The body is empty, so it is not a valid image file.'
    const rejected = { assetError: { code: 'asset_invalid', message }, mimeType: type }
    const empty = { assetRef: ref, mimeType: 'text/plain', kind: 'file' }
    expect(value).toEqual([rejected, rejected, rejected, { data: rejected }, empty])
  })

  it('leaves invalid types out of an error', async () => {
    for (const mimeType of ['image/png\r\nX: y', 'x'.repeat(1_000_000), 'nonsense']) {
      const { value, errors } = await extract({ mimeType, dataBase64: '***' })
      expect(Object.keys(value as object)).toEqual(['assetError'])
      expect(errors[0]).not.toHaveProperty('mime')
    }
  })

  it('survives a store that fails on the third of five', async () => {
    const store = createMemoryAssetStore()
    let saves = 0
    const failing = {
      ...store,
      save: async (...args: Parameters<typeof store.save>) => {
        if (++saves === 3) throw new Error('disk on fire')
        return store.save(...args)
      },
    }
    const assets = createAssets({ store: failing })
    const images = Array.from({ length: 5 }, () => ({ mimeType: 'image/png', dataBase64: PNG }))
    const { value, errors } = await extract(images, { assets })
    const failed = (value as object[]).filter((one) => 'assetError' in one)
    expect(failed).toHaveLength(1)
    expect((value as object[]).filter((one) => 'assetRef' in one)).toHaveLength(4)
    expect(errors).toMatchObject([{ code: 'storage_failed' }])
  })

  it('reports a stream that fails, that is locked, that is used up', async () => {
    const failing = new ReadableStream({
      pull(controller) {
        controller.error(new Error('cut'))
      },
    })
    const locked = new Blob(['x']).stream()
    locked.getReader()
    const used = new Response('x')
    await used.text()
    const { value, errors } = await extract({ failing, locked, used, fine: new Blob([pngBytes]) })
    expect(errors.map((one) => one.origin).sort()).toEqual(['/failing', '/locked', '/used'])
    expect(value).toMatchObject({ fine: png, failing: { assetError: {} } })
  })

  it('rejects a value that is too large before anything is saved', async () => {
    const images = Array.from({ length: 4 }, () => ({ mimeType: 'image/png', dataBase64: PNG }))
    const limited = async (limits: AssetsConfig['limits'], value: unknown) => {
      const assets = createAssets({ config: { limits } })
      const failed = await extract(value, { assets }).catch((error: ByrefError) => error.code)
      return { failed, saved: (await assets.list()).assets.length }
    }
    expect(await limited({ items: 3 }, images)).toEqual({ failed: 'too_many_assets', saved: 0 })
    expect(await limited({ items: 3 }, `${pngUrl} `.repeat(4))).toEqual({
      failed: 'too_many_assets',
      saved: 0,
    })
    expect(await limited({ resultBytes: 200 }, images)).toEqual({
      failed: 'result_too_large',
      saved: 0,
    })
    expect(await limited({ depth: 2 }, [[[images]]])).toEqual({ failed: 'too_deep', saved: 0 })
    const { value } = await extract([pngBytes, new Blob([pngBytes]), new Uint8Array(3)], {
      config: { limits: { bodyBytes: 50 } },
    })
    expect(value).toMatchObject([
      { assetError: { code: 'asset_too_large' } },
      { assetError: { code: 'asset_too_large' } },
      { assetRef: ref },
    ])
  })

  it('rejects too many small bodies, because each needs a record', async () => {
    const tiny = (count: number) => Array.from({ length: count }, (_, i) => `data:text/plain,${i}`)
    const many = tiny(9_500)
    for (const value of [many, many.join(' '), many.map((dataUrl) => ({ dataUrl }))]) {
      const assets = createAssets()
      await expect(extract(value, { assets })).rejects.toMatchObject({
        code: 'too_many_assets',
        message: expect.stringContaining('limits.smallItems'),
      })
      expect((await assets.usage()).assets).toBe(0)
    }
    const large = Array.from({ length: 5 }, () => new Blob(['x'.repeat(1_024)]))
    const config = { limits: { smallItems: 3 } }
    expect((await extract([...tiny(3), ...large], { config })).created).toHaveLength(8)
  })

  it('yields to the event loop', async () => {
    const config = { limits: { smallItems: 5_000 } }
    const text = Array.from({ length: 5_000 }, (_, i) => `data:text/plain,${i}`).join(' ')
    let turns = 0
    const turn = (): void => {
      turns++
      next = setImmediate(turn)
    }
    let next = setImmediate(turn)
    await extract({ text }, { config })
    clearImmediate(next)
    expect(turns).toBeGreaterThan(3)
  })

  it('stops when it is aborted', async () => {
    const abort = new AbortController()
    const assets = createAssets({
      onEvent: () => abort.abort(new Error('enough')),
    })
    const images = Array.from({ length: 50 }, () => ({ dataUrl: pngUrl }))
    await expect(
      extractAssets(images, { assets, concurrency: 1, signal: abort.signal }),
    ).rejects.toThrow('enough')
    expect((await assets.list()).assets.length).toBeLessThan(50)
  })

  it('leaves no base64 beside a reference or an error', async () => {
    const { value } = await extract([
      { mimeType: 'image/png', dataBase64: PNG, base64: PNG, dataUrl: pngUrl, url: pngUrl },
      { mimeType: 'image/png', dataBase64: PNG, caption: `![](${pngUrl})`, thumbnail: pngBytes },
      { dataUrl: `data:image/png;base64,${PNG} ${PNG}`, b: 1 },
      { dataUrl: 'https://example.com/a.png', dataBase64: PNG, mimeType: 'image/png' },
    ])
    const caption = expect.stringMatching(/^!\[\]\(<\|asset:[^|]+\|>\)$/)
    expect(value).toMatchObject([
      { ...png, url: png },
      { ...png, caption, thumbnail: png },
      { assetError: { code: 'asset_invalid' }, b: 1 },
      { ...png, dataUrl: 'https://example.com/a.png' },
    ])
    expect(JSON.stringify(value)).not.toContain(PNG.slice(0, 20))
  })

  it('rejects with the error of a handler, unchanged', async () => {
    const events: string[] = []
    const assets = createAssets({
      onEvent(event) {
        events.push(event.type)
        throw new Error('log is full')
      },
    })
    await expect(extract({ a: pngBytes, b: pngBytes }, { assets })).rejects.toThrow('log is full')
    expect(events).toEqual(['ASSET_CREATED', 'ASSET_CREATED'])
    const broken = { mimeType: 'image/png', dataBase64: '***' }
    await expect(extract(broken, { assets })).rejects.toThrow('log is full')
  })

  it('counts streams towards the size of a result, by their headers first', async () => {
    const config = { limits: { resultBytes: 1000 } }
    const chunks = (count: number) => Array.from({ length: count }, () => new Uint8Array(100))
    const streamed = (count: number) => new Blob(chunks(count)).stream()
    const limited = async (value: unknown) => {
      const assets = createAssets({ config })
      const failed = await extract(value, { assets }).catch((error: ByrefError) => error.code)
      return { failed, saved: (await assets.list()).assets.length }
    }
    const headers = { 'content-length': '600' }
    const response = () => new Response(streamed(6), { headers })
    const refused = { failed: 'result_too_large', saved: 0 }
    expect(await limited([response(), response()])).toEqual(refused)
    expect((await limited([streamed(6), streamed(6)])).failed).toBe('result_too_large')
    expect((await limited([new Response(streamed(11), { headers })])).failed).toBe(
      'result_too_large',
    )
    const once = response()
    expect(await limited([once, once, streamed(4)])).toMatchObject({ saved: 2 })
  })

  it('cancels the streams of a rejected result', async () => {
    const cancelled: unknown[] = []
    const endless = () =>
      new ReadableStream<Uint8Array>({
        pull: (controller) => controller.enqueue(new Uint8Array(10_000)),
        cancel: (reason) => void cancelled.push((reason as ByrefError).code),
      })
    const node = new Readable({ read() {} })
    const refuse = (limits: AssetsConfig['limits'], value: unknown) =>
      expect(extract(value, { config: { limits } })).rejects.toThrow('limits.')
    await refuse({ items: 1 }, [endless(), endless()])
    await refuse({ depth: 1 }, [endless(), node, [[[1]]]])
    await refuse({ resultBytes: 100 }, [endless(), new Uint8Array(101)])
    await refuse({ resultBytes: 100_000 }, [endless(), endless()])
    expect(cancelled).toEqual([
      ...['too_many_assets', 'too_many_assets', 'too_deep', 'result_too_large'],
      ...['result_too_large', 'result_too_large'],
    ])
    expect(node.destroyed).toBe(true)
  })
})
