import { Readable } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ByrefError } from '../../errors.ts'
import type { AssetEvent } from '../asset-events.ts'
import { type Assets, createAssets } from '../assets.ts'
import type { AssetsConfig } from '../assets-config.ts'
import { createMemoryAssetStore } from '../stores/memory.ts'
import { extractAssets } from './extract.ts'

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
const JPEG =
  '/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA='
const WAV = Buffer.concat([
  Buffer.from('RIFF\u0024\u0000\u0000\u0000WAVEfmt ', 'latin1'),
  Buffer.alloc(28),
]).toString('base64')
const pngUrl = `data:image/png;base64,${PNG}`
const pngBytes = Uint8Array.from(Buffer.from(PNG, 'base64'))
const ref = expect.stringMatching(/^asset:\/\/[0-9a-z]+$/)
const png = { assetRef: ref, mimeType: 'image/png', kind: 'image' }
const jpeg = { assetRef: ref, mimeType: 'image/jpeg', kind: 'image' }
const wav = { assetRef: ref, mimeType: 'audio/wav', kind: 'audio' }

/** As the AI SDK has them: getters stand on the prototype. */
class GeneratedFile {
  readonly mediaType = 'image/png'
  readonly base64Data?: string
  readonly uint8ArrayData?: Uint8Array

  constructor(data: Pick<GeneratedFile, 'base64Data' | 'uint8ArrayData'>) {
    this.base64Data = data.base64Data
    this.uint8ArrayData = data.uint8ArrayData
  }

  get base64(): string {
    return this.base64Data ?? ''
  }
}

interface Setup {
  events?: AssetEvent[]
  assets?: Assets
  config?: AssetsConfig
}

async function extract(value: unknown, { events, assets, config }: Setup = {}) {
  const own = assets ?? createAssets({ config, onEvent: (event) => events?.push(event) })
  const options = { assets: own, by: 'tool', tool: 't', toolCallId: 'c' } as const
  return { assets: own, ...(await extractAssets(value, options)) }
}

describe('extractAssets', () => {
  it('replaces the four forms of the reference', async () => {
    expect((await extract({ mimeType: 'image/png', dataBase64: PNG })).value).toEqual(png)
    expect((await extract({ dataUrl: pngUrl })).value).toEqual(png)
    expect((await extract(pngUrl)).value).toEqual(png)
    const nested = {
      result: 'success',
      images: [
        { mimeType: 'image/png', dataBase64: PNG },
        { mimeType: 'image/jpeg', dataBase64: JPEG },
      ],
    }
    expect((await extract(nested)).value).toEqual({ result: 'success', images: [png, jpeg] })
  })

  it('keeps what stands beside the bytes, and changes nothing of the value', async () => {
    const value = Object.freeze({
      mimeType: 'image/png',
      dataBase64: PNG,
      caption: 'a',
      size: 3,
      fileName: 'x.png',
    })
    const { value: out, created } = await extract({ deep: [value] })
    expect(out).toEqual({ deep: [{ ...png, caption: 'a', size: 3, fileName: 'x.png' }] })
    expect(value.dataBase64).toBe(PNG)
    expect(created).toEqual([
      {
        assetId: expect.any(String),
        ref,
        mime: 'image/png',
        kind: 'image',
        by: 'tool',
        tool: 't',
        toolCallId: 'c',
        origin: '/deep/0',
        size: pngBytes.byteLength,
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
        name: 'x.png',
      },
    ])
  })

  it('gives the same bytes twice two references and one body', async () => {
    const image = { mimeType: 'image/png', dataBase64: PNG }
    const { assets, created, value } = await extract({ a: image, b: image, c: { ...image } })
    expect(new Set(created.map((one) => one.ref)).size).toBe(3)
    expect(new Set(created.map((one) => one.digest)).size).toBe(1)
    expect(value).toEqual({ a: png, b: png, c: png })
    expect(await assets.usage()).toEqual({ assets: 3, bytes: pngBytes.byteLength })
  })

  it.each<[string, unknown, unknown]>([
    [
      'MCP content',
      {
        content: [
          { type: 'text', text: 'hi' },
          { type: 'image', data: PNG, mimeType: 'image/png' },
          { type: 'audio', data: WAV, mimeType: 'audio/wav' },
          {
            type: 'resource',
            resource: { uri: 'file:///a.png', mimeType: 'image/png', blob: PNG },
          },
          {
            type: 'resource',
            resource: { uri: 'file:///a.txt', mimeType: 'text/plain', text: 'a' },
          },
        ],
      },
      {
        content: [
          { type: 'text', text: 'hi' },
          { type: 'image', ...png },
          { type: 'audio', ...wav },
          { type: 'resource', resource: { uri: 'file:///a.png', ...png } },
          {
            type: 'resource',
            resource: { uri: 'file:///a.txt', mimeType: 'text/plain', text: 'a' },
          },
        ],
      },
    ],
    [
      'OpenAI images',
      { created: 1, data: [{ b64_json: PNG, revised_prompt: 'a' }] },
      { created: 1, data: [{ ...png, revised_prompt: 'a' }] },
    ],
    [
      'OpenAI parts',
      [
        { type: 'input_audio', input_audio: { data: WAV, format: 'wav' } },
        { type: 'image_url', image_url: { url: pngUrl, detail: 'low' } },
        { type: 'image_generation_call', id: 'x', result: PNG },
        { type: 'input_file', filename: 'a.png', file_data: pngUrl },
        { type: 'file', file: { filename: 'a.png', file_data: pngUrl } },
      ],
      [
        { type: 'input_audio', input_audio: { ...wav, format: 'wav' } },
        { type: 'image_url', image_url: { url: png, detail: 'low' } },
        { type: 'image_generation_call', id: 'x', ...png },
        { type: 'input_file', filename: 'a.png', ...png },
        { type: 'file', file: { filename: 'a.png', ...png } },
      ],
    ],
    [
      'Anthropic',
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
      { type: 'image', source: png },
    ],
    [
      'Google',
      { parts: [{ inlineData: { mimeType: 'image/png', data: PNG } }, { text: 'hi' }] },
      { parts: [{ inlineData: png }, { text: 'hi' }] },
    ],
    [
      'Google, in its other spelling',
      { inline_data: { mime_type: 'image/png', data: PNG } },
      { inline_data: png },
    ],
    [
      'AI SDK',
      [
        { type: 'file', mediaType: 'image/png', data: PNG },
        { type: 'file', mediaType: 'image/png', data: pngBytes, filename: 'a.png' },
        { type: 'image', mediaType: 'image/png', image: pngUrl },
        { type: 'image-data', mediaType: 'image/png', data: PNG },
        { mediaType: 'image/png', base64: PNG },
      ],
      [
        { type: 'file', ...png },
        { type: 'file', ...png, filename: 'a.png' },
        { type: 'image', ...png },
        { type: 'image-data', ...png },
        png,
      ],
    ],
    [
      'MCP resources without a type',
      { contents: [{ uri: 'file:///a.png', blob: PNG }] },
      { contents: [{ uri: 'file:///a.png', ...png }] },
    ],
    [
      'a message of OpenAI with audio',
      { audio: { id: 'x', data: WAV, transcript: 'hi', expires_at: 1 } },
      { audio: { id: 'x', ...wav, transcript: 'hi', expires_at: 1 } },
    ],
    [
      'images of Google',
      [{ bytesBase64Encoded: PNG, mimeType: 'image/png' }, { image: { imageBytes: PNG } }],
      [png, { image: png }],
    ],
    [
      'generated files of the AI SDK',
      [
        new GeneratedFile({ base64Data: PNG, uint8ArrayData: undefined }),
        new GeneratedFile({ base64Data: PNG, uint8ArrayData: pngBytes }),
        new GeneratedFile({ base64Data: undefined, uint8ArrayData: pngBytes }),
      ],
      [png, png, png],
    ],
    [
      'an image of the AI SDK without a type',
      [
        { type: 'image', image: PNG },
        { type: 'image', image: 'hello' },
        { type: 'image', image: 'https://example.com/a.png' },
      ],
      [
        { type: 'image', ...png },
        { type: 'image', image: 'hello' },
        { type: 'image', image: 'https://example.com/a.png' },
      ],
    ],
    [
      'what JSON makes of an object',
      {
        object: { secret: 1, toJSON: () => ({ a: { dataUrl: pngUrl } }) },
        list: { toJSON: () => [pngUrl] },
        bytes: { toJSON: () => pngBytes },
        text: new URL(pngUrl),
      },
      { object: { a: png }, list: [png], bytes: png, text: png },
    ],
    [
      'a Buffer that was made JSON',
      { image: JSON.parse(JSON.stringify(Buffer.from(PNG, 'base64'))) },
      { image: png },
    ],
    [
      'data URLs with parameters and percent signs',
      'data:text/html;charset=utf-8,%3Chtml%3E',
      { assetRef: ref, mimeType: 'text/html;charset=utf-8', kind: 'file' },
    ],
  ])('knows the shape of %s', async (_, input, output) => {
    const { value, errors } = await extract(input)
    expect(errors).toEqual([])
    expect(normal(value)).toEqual(normal(output))
  })

  it('takes bytes, Blobs, Files, Responses and streams', async () => {
    const stream = () => new Blob([pngBytes]).stream()
    const file = new File([pngBytes], 'a.png')
    const disposition = { 'content-disposition': 'attachment; filename="b.png"' }
    const { value, created, assets } = await extract({
      bytes: pngBytes,
      view: Buffer.from(PNG, 'base64'),
      buffer: pngBytes.buffer,
      blob: new Blob([pngBytes]),
      file,
      response: new Response(pngBytes, { headers: disposition }),
      stream: stream(),
      typed: { mimeType: 'text/csv', data: Buffer.from('a,b\n') },
    })
    expect(value).toEqual({
      bytes: png,
      view: png,
      buffer: png,
      blob: png,
      file: png,
      response: png,
      stream: png,
      typed: { assetRef: ref, mimeType: 'text/csv', kind: 'file' },
    })
    const names = Object.fromEntries(created.map(({ origin, name }) => [origin, name]))
    expect(names['/file']).toBe('a.png')
    expect(names['/response']).toBe('b.png')
    for (const one of created.filter(({ mime }) => mime === 'image/png')) {
      expect(Buffer.from((await assets.get(one.ref)).bytes).toString('base64')).toBe(PNG)
    }
  })

  it('replaces data URLs inside text in place', async () => {
    const { value, created } = await extract({
      md: `# Chart\n![a](${pngUrl}) and ![b](data:image/jpeg;base64,${JPEG})!`,
    })
    expect((value as { md: string }).md).toMatch(
      /^# Chart\n!\[a\]\(<\|asset:\/\/[0-9a-z]+\|>\) and !\[b\]\(<\|asset:\/\/[0-9a-z]+\|>\)!$/,
    )
    expect(created.map(({ mime, origin }) => [mime, origin])).toEqual([
      ['image/png', '/md'],
      ['image/jpeg', '/md'],
    ])
  })

  it.each<[string, unknown]>([
    ['prose', { a: 'data: hello world' }],
    ['prose with a comma', 'data: hello, world'],
    ['server-sent events', 'data: {"a":1}\n\ndata: [DONE]\n\n'],
    ['server-sent events without a space', 'event: x\ndata:{"mime":"image/png",\ndata:"b":1}\n\n'],
    ['an ordinary URL', { dataUrl: 'https://example.com/a.png' }],
    ['a reference', { dataUrl: 'asset://abc' }],
    ['a type without data', { mimeType: 'image/png' }],
    ['a type and a URL', { type: 'file', mediaType: 'image/png', data: 'https://example.com/a' }],
    ['a type and JSON data', { mimeType: 'application/json', data: { a: 1 } }],
    ['a number of bytes', { imageBytes: '1234', videoBytes: 5 }],
    ['a copy beside a reference', { assetRef: 'asset://abc', url: new URL(pngUrl) }],
    ['a name under blob', { uri: 'git://x', blob: 'main' }],
    ['a hash under blob', { uri: 'git://x', blob: 'ab'.repeat(64) }],
    ['an object whose JSON has no body', { a: { toJSON: () => ({ b: 1 }) }, url: new URL('a:b') }],
    ['a sentence about a type', 'data:text/html, is a type. What next?'],
    ['a type and text data', { mimeType: 'text/plain', data: 'abcdefgh' }],
    ['a type and a blob of something else', { mimeType: 'text/plain', blob: 'AAAA' }],
    ['a long hash', { hash: 'a'.repeat(5000) }],
    ['untyped base64', { dataBase64: PNG }],
    ['metadata: of something', 'metadata:image/png;base64,AAAA'],
    ['what fetch_asset gives', { assetRef: 'asset://abc', dataUrl: pngUrl }],
    [
      'what fetch_asset gives as base64',
      { assetRef: 'asset://abc', base64: PNG, mime: 'image/png' },
    ],
    ['numbers, null, dates', { a: [1, null, undefined, new Date(), 5n, Number.NaN] }],
    ['a list of numbers as data', { type: 'Buffer', data: [1, 2, 300] }],
    ['nothing', undefined],
  ])('leaves alone: %s', async (_, input) => {
    const { value, created } = await extract(input)
    expect(value).toBe(input)
    expect(created).toEqual([])
  })

  it('extracts nothing twice', async () => {
    const once = await extract({ images: [{ mimeType: 'image/png', dataBase64: PNG }] })
    const twice = await extract(once.value, { assets: once.assets })
    expect(twice.value).toBe(once.value)
  })

  it('turns what does not decode into an error, and saves its neighbours', async () => {
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

  it('makes an error of what cannot be read, at its place', async () => {
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

  it('refuses base64 with spaces in it, and empty images', async () => {
    const { value } = await extract([
      { type: 'file', mimeType: 'text/plain', data: 'hello world' },
      { mimeType: 'image/png', dataBase64: '' },
      { dataUrl: 'data:image/png;base64,' },
      { mimeType: 'text/plain', dataBase64: '' },
      { mimeType: 'image/png', dataBase64: `${PNG.replace(/.{76}/g, '$&\r\n')}\n` },
    ])
    expect(value).toMatchObject([
      { assetError: { code: 'asset_invalid' } },
      { assetError: { message: 'The body is empty, which is no image.' } },
      { assetError: { message: 'The body is empty, which is no image.' } },
      { assetRef: ref, mimeType: 'text/plain' },
      png,
    ])
  })

  it('tells no type in an error that is none', async () => {
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

  it('refuses too much before anything is saved', async () => {
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

  it('does not fall over depth and cycles', async () => {
    let deep: unknown = pngBytes
    for (let i = 0; i < 20_000; i++) deep = { deep }
    await expect(extract(deep)).rejects.toMatchObject({ code: 'too_deep' })
    const limits = { depth: 100_000 }
    let { value: at } = await extract(deep, { config: { limits } })
    for (let i = 0; i < 20_000; i++) at = (at as { deep: unknown }).deep
    expect(at).toEqual(png)
    const cycle: Record<string, unknown> = { image: pngBytes, list: [] }
    cycle.self = cycle
    ;(cycle.list as unknown[]).push(cycle)
    const { value } = await extract(cycle)
    const copy = value as Record<string, unknown>
    expect(copy).not.toBe(cycle)
    expect(copy.image).toEqual(png)
    expect(copy.self).toBe(copy)
    expect((copy.list as unknown[])[0]).toBe(copy)
    const still: Record<string, unknown> = {}
    still.self = still
    expect((await extract(still)).value).toBe(still)
  })

  it('keeps Date, Map and Set, and shares what it does not change', async () => {
    const at = new Date()
    const rows = [{ a: 1 }, { b: 2 }]
    const { value } = await extract({
      at,
      rows,
      map: new Map<unknown, unknown>([
        ['image', pngBytes],
        [7, 'seven'],
      ]),
      set: new Set<unknown>([pngBytes, 'x']),
      big: 5n,
    })
    const out = value as Record<string, unknown>
    expect(out.at).toBe(at)
    expect(out.rows).toBe(rows)
    expect(out.map).toEqual(
      new Map<unknown, unknown>([
        ['image', png],
        [7, 'seven'],
      ]),
    )
    expect([...(out.set as Set<unknown>)]).toEqual([png, 'x'])
    expect(out.big).toBe(5n)
  })

  it('finds assets beside assets', async () => {
    const { value } = await extract({
      mimeType: 'image/png',
      dataBase64: PNG,
      thumbnail: { dataUrl: `data:image/jpeg;base64,${JPEG}` },
      more: [pngUrl],
    })
    expect(value).toEqual({ ...png, thumbnail: jpeg, more: [png] })
  })

  it('treats keys of prototypes as plain keys', async () => {
    const value = JSON.parse(`{"__proto__":{"dataUrl":"${pngUrl}"},"constructor":{"a":1}}`)
    const { value: out } = await extract(value)
    expect(Object.keys(out as object)).toEqual(['__proto__', 'constructor'])
    expect(Object.getPrototypeOf(out)).toBe(Object.prototype)
    expect(Object.getOwnPropertyDescriptor(out, '__proto__')?.value).toEqual(png)
  })

  it('writes origins as JSON Pointers', async () => {
    const { created } = await extract({ 'a/b': { 'c~d': [0, { dataUrl: pngUrl }] } })
    expect(created[0]?.origin).toBe('/a~1b/c~0d/1')
    expect((await extract(pngUrl)).created[0]?.origin).toBe('')
  })

  it('tells handlers, who can read the body and never carry it', async () => {
    const seen: unknown[] = []
    const assets = createAssets({
      onEvent: async (event) => {
        await new Promise((go) => setTimeout(go, 1))
        const payload = event.payload as unknown as { base64: string; dataUrl: string }
        seen.push([event.type, payload.base64, payload.dataUrl, JSON.stringify(event)])
      },
    })
    await extract({ mimeType: 'image/png', dataBase64: PNG }, { assets })
    expect(seen).toEqual([['ASSET_CREATED', PNG, pngUrl, expect.not.stringContaining(PNG)]])
  })

  it('ends when it is aborted', async () => {
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

  it('reads every field once, and gives back what it saw', async () => {
    const fresh = {
      get image() {
        return { mimeType: 'image/png', dataBase64: PNG }
      },
      get dataUrl() {
        return pngUrl
      },
    }
    const list: unknown[] = [{ dataUrl: pngUrl }]
    const growing = { list, map: new Map<string, unknown>([['a', { dataUrl: pngUrl }]]), fresh }
    const assets = createAssets({
      onEvent() {
        list.push({ dataUrl: pngUrl })
        growing.map.set('b', { dataUrl: pngUrl })
      },
    })
    const { value } = await extract(growing, { assets })
    expect(value).toEqual({
      list: [png],
      map: new Map([['a', png]]),
      fresh: { ...png, image: png },
    })
  })

  it('writes its keys over those of the same name', async () => {
    const { value } = await extract([
      { assetRef: null, mimeType: 'image/png', dataBase64: PNG, kind: 'chart', a: 1 },
      { mimeType: 'image/png', dataBase64: '***', assetError: 'mine', data: [{ b: 2 }] },
    ])
    expect(value).toEqual([
      { ...png, a: 1 },
      {
        assetError: { code: 'asset_invalid', message: expect.any(String) },
        mimeType: 'image/png',
        data: [{ b: 2 }],
      },
    ])
    expect(Object.keys((value as object[])[0] as object)).toEqual([
      'assetRef',
      'mimeType',
      'kind',
      'a',
    ])
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

  it('gives a stream that stands at several places one reference and one event', async () => {
    const stream = new Blob([pngBytes]).stream()
    const response = new Response(pngBytes)
    const { value, created, errors } = await extract({
      a: stream,
      b: { again: stream },
      c: { mimeType: 'image/png', data: stream, caption: 'kept' },
      d: [response, response, response.body],
    })
    expect(errors).toEqual([])
    expect(created.map(({ origin }) => origin)).toEqual(['/a', '/d/0'])
    const { a, b, c, d } = value as Record<string, Record<string, unknown>>
    expect(b?.again).toEqual(a)
    expect(c).toEqual({ ...a, caption: 'kept' })
    expect(d).toEqual([d?.[0], d?.[0], d?.[0]])
  })

  it('takes streams of Node, and every kind of bytes; numbers become lists', async () => {
    const read = Readable.from([Buffer.from('x')])
    for await (const _ of read);
    const { value, errors } = await extract({
      node: Readable.from([pngBytes.slice(0, 9), pngBytes.slice(9)]),
      clamped: new Uint8ClampedArray(pngBytes),
      view: new DataView(pngBytes.buffer),
      shared: new Uint8Array(new SharedArrayBuffer(2)),
      floats: new Float32Array([1.5, -2]),
      big: [new BigInt64Array([1n])],
      read,
      failing: new Readable({ read: () => Promise.reject(new Error('cut')) })
        .destroy(new Error('cut'))
        .on('error', () => {}),
    })
    const file = { assetRef: ref, mimeType: 'application/octet-stream', kind: 'file' }
    expect(value).toMatchObject({
      node: png,
      clamped: png,
      view: png,
      shared: file,
      floats: [1.5, -2],
      big: [[1n]],
      read: { assetError: { code: 'asset_invalid' } },
      failing: { assetError: { message: 'Saving failed: cut' } },
    })
    expect(errors).toHaveLength(2)
  })

  it('tells of assets in the order of the walk, saved at once all the same', async () => {
    let running = 0
    let most = 0
    const slow = (ms: number) =>
      new ReadableStream<Uint8Array>({
        async pull(controller) {
          most = Math.max(most, ++running)
          await new Promise((go) => setTimeout(go, ms))
          running--
          controller.enqueue(new Uint8Array([ms]))
          controller.close()
        },
      })
    const events: AssetEvent[] = []
    const bad = { mimeType: 'image/png', dataBase64: '***' }
    const text = `${pngUrl} and data:a/b;base64,A`
    await extract([slow(9), bad, slow(3), slow(6), text, slow(1)], { events })
    expect(events.map(({ type, payload }) => `${type} ${payload.origin}`)).toEqual([
      'ASSET_CREATED /0',
      'ASSET_ERROR /1',
      'ASSET_CREATED /2',
      'ASSET_CREATED /3',
      'ASSET_CREATED /4',
      'ASSET_ERROR /4',
      'ASSET_CREATED /5',
    ])
    expect(most).toBe(4)
  })

  it('rejects with what a handler throws, and makes no error of it', async () => {
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

  it('counts streams to the size of a result, by their headers before', async () => {
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

  it('ends the streams of a result that it refuses', async () => {
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

  it('follows an object that stands at 200,000 places', async () => {
    const shared = { image: pngBytes }
    const { value } = await extract(Array.from({ length: 200_000 }, () => ({ shared })))
    const [first, last] = [(value as unknown[])[0], (value as unknown[]).at(-1)] as [
      { shared: unknown },
      { shared: unknown },
    ]
    expect(first.shared).toEqual({ image: png })
    expect(last.shared).toBe(first.shared)
  })

  it('is linear in hostile text', async () => {
    const { value } = await extract([
      'data:'.repeat(200_000),
      'data:image/png;base64,'.repeat(1),
      `data:${'a'.repeat(500_000)}`,
      'data:a/b;'.repeat(100_000),
    ])
    expect(value).toHaveLength(4)
  })

  it('gives back any JSON without data URLs as it came', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (json) => {
        expect((await extract(json)).value).toBe(json)
      }),
      { numRuns: 200 },
    )
  })

  it('finds every body, wherever it stands', async () => {
    const leaf = fc.oneof(
      fc.constant({ dataUrl: pngUrl }),
      fc.constant({ mimeType: 'image/png', dataBase64: PNG }),
      fc.constant(pngUrl),
    )
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.integer(),
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(fc.constantFrom('a', 'b', 'c/d', '~'), tie('tree'), { maxKeys: 3 }),
      ),
    }))
    await fc.assert(
      fc.asyncProperty(tree, async (value) => {
        const { value: out, created } = await extract(value)
        const before = JSON.stringify(value) ?? ''
        expect(created).toHaveLength(before.split(PNG).length - 1)
        expect(JSON.stringify(out) ?? '').not.toContain(PNG)
        for (const { origin, ref: name } of created) {
          const keys = (origin ?? '').split('/').slice(1)
          const at = keys.reduce(
            (found, key) =>
              (found as Record<string, unknown>)[key.replace(/~1/g, '/').replace(/~0/g, '~')],
            out,
          )
          expect(at).toMatchObject({ assetRef: name })
        }
      }),
      { numRuns: 200 },
    )
  })
})

/** Types in one spelling. */
function normal(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normal)
  if (typeof value !== 'object' || value === null || 'asymmetricMatch' in value) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      key === 'mimeType' ? String(item).replace('; ', ';') : normal(item),
    ]),
  )
}
