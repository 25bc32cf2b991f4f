import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { createAssets } from '../create-assets.ts'
import {
  extract,
  JPEG,
  jpeg,
  PNG,
  png,
  pngBytes,
  pngUrl,
  ref,
  WAV,
  wav,
} from './fixtures/extracted.ts'

/** Like the AI SDK's class: the getters are on the prototype. */
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

  it('keeps the keys beside the bytes, and does not change the original value', async () => {
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

  it('does not change objects without a prototype, which GraphQL returns', async () => {
    const bare = (fields: object): object => Object.assign(Object.create(null), fields)
    const value = bare({ type: bare({ name: 'city' }), image: bare({ url: '/a.png' }) })
    expect((await extract(value)).value).toBe(value)
  })

  it('stores the same bytes twice as two references and one body', async () => {
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

  it('accepts bytes, Blobs, Files, Responses and streams', async () => {
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
    ['untyped base64 of no known format', { dataBase64: Buffer.alloc(99, 7).toString('base64') }],
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

  it('accepts Node streams and every kind of bytes; typed arrays of numbers become lists', async () => {
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
})

describe('extractAssets, of data URLs that are unusual', () => {
  it.each([
    ['parameters of an image', `data:image/png;name=x;base64,${PNG}`, 'image/png'],
    ['spaces under a key', { dataUrl: 'data:application/json,{"a": 1}' }, 'application/json'],
    ['spaces in a value that is no sentence', 'data:image/png,X X', 'image/png'],
    [
      'spaces in markup',
      'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" />',
      'image/svg+xml',
    ],
  ])('accepts %s', async (_, input, mimeType) => {
    const { value, errors } = await extract(input)
    expect(errors).toEqual([])
    expect(value).toMatchObject({ assetRef: ref, mimeType })
  })

  it.each([
    'data:image/png;base64,@@@@',
    'data:image/png;base64,@@ @@',
    'data:image/png;base64,*** x',
  ])('reports that %s cannot be decoded', async (input) => {
    const { value, errors } = await extract(input)
    expect(value).toMatchObject({ assetError: { code: 'asset_invalid' }, mimeType: 'image/png' })
    expect(errors).toHaveLength(1)
  })

  it.each([
    'data:text/html, is a type. What next?',
    'data: hello world',
    'data:text/plain is a type',
  ])('does not change %j', async (input) => expect((await extract(input)).value).toBe(input))
})

describe('extractAssets, of many numbers', () => {
  it('unwraps Number, String and Boolean objects, as JSON does', async () => {
    class Price extends Number {
      toJSON() {
        return { amount: Number(this) }
      }
    }
    const price = new Price(2)
    const list = [new Number(3), new String('x'), new Boolean(false), new String(pngUrl), price]
    const { value } = await extract({ list, root: { toJSON: () => new String(pngUrl) } })
    expect(value).toEqual({ list: [3, 'x', false, png, price], root: png })
    expect((await extract(new Number(3))).value).toBe(3)
  })

  it('converts long typed arrays to structured content', async () => {
    const floats = Float32Array.from({ length: 5000 }, (_, i) => i / 4)
    const { value, created, assets } = await extract({ floats, assetRef: 'asset://a' })
    expect(value).toEqual({
      floats: { assetRef: ref, mimeType: 'application/json', kind: 'file' },
      assetRef: 'asset://a',
    })
    expect(created).toMatchObject([{ structured: true, origin: '/floats', by: 'tool' }])
    const { assetRef } = (value as { floats: { assetRef: string } }).floats
    expect(await assets.resolve(assetRef)).toEqual(floats)
    expect(await assets.resolve(`${assetRef}/content/4999`)).toBe(4999 / 4)
    expect((await assets.get(assetRef)).bytes).toEqual(new Uint8Array(floats.buffer))
  })

  it('counts their bytes', async () => {
    const config = { limits: { resultBytes: 10_000 } }
    const result = extract(new Float64Array(5000), { config })
    await expect(result).rejects.toMatchObject({ code: 'result_too_large' })
  })

  it('rejects lists that are longer than any JSON', async () => {
    const sparse: number[] = []
    sparse[4_000_000_000] = 1
    for (const value of [sparse, { a: [sparse] }, { toJSON: () => sparse }]) {
      await expect(extract(value)).rejects.toMatchObject({ code: 'result_too_large' })
    }
    const asset = { content_type: 'data', content: { sparse } }
    await expect(createAssets().saveAsset(asset)).rejects.toMatchObject({ code: 'too_many_assets' })
  })
})

/** Types in normalized spelling. */
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
