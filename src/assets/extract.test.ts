import { describe, expect, it } from 'vitest'
import type { AssetEvent } from './asset-events.ts'
import { createAssets } from './assets.ts'
import { extractAssets } from './extract.ts'

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
const JPEG =
  '/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA='
const ref = expect.stringMatching(/^asset:\/\/[0-9a-z]+$/)
const png = { assetRef: ref, mimeType: 'image/png', kind: 'image' }
const jpeg = { assetRef: ref, mimeType: 'image/jpeg', kind: 'image' }

async function extract(value: unknown, setup: { events?: AssetEvent[] } = {}) {
  const assets = createAssets({ onEvent: (event) => setup.events?.push(event) })
  return {
    assets,
    ...(await extractAssets(value, { assets, by: 'tool', tool: 't', toolCallId: 'c' })),
  }
}

describe('extractAssets', () => {
  it('replaces the four forms of the reference', async () => {
    expect((await extract({ mimeType: 'image/png', dataBase64: PNG })).value).toEqual(png)
    const url = `data:image/png;base64,${PNG}`
    expect((await extract({ dataUrl: url })).value).toEqual(png)
    expect((await extract(url)).value).toEqual(png)
    const nested = {
      result: 'success',
      images: [
        { mimeType: 'image/png', dataBase64: PNG },
        { mimeType: 'image/jpeg', dataBase64: JPEG },
      ],
    }
    expect((await extract(nested)).value).toEqual({ result: 'success', images: [png, jpeg] })
    expect(nested.images[0]?.dataBase64).toBe(PNG)
  })

  it('keeps what stands beside the bytes', async () => {
    const value = {
      mimeType: 'image/png',
      dataBase64: PNG,
      caption: 'a',
      size: 3,
      fileName: 'x.png',
    }
    const { value: out, created } = await extract(value)
    expect(out).toEqual({ ...png, caption: 'a', size: 3, fileName: 'x.png' })
    expect(created).toMatchObject([
      { name: 'x.png', by: 'tool', tool: 't', toolCallId: 'c', origin: '' },
    ])
  })

  it('turns what does not decode into an error, and saves its neighbours', async () => {
    const { value, created, errors } = await extract({
      bad: { mimeType: 'image/png', dataBase64: '***' },
      good: { mimeType: 'image/png', dataBase64: PNG },
    })
    expect(value).toEqual({
      bad: {
        assetError: { code: 'asset_invalid', message: expect.any(String) },
        mimeType: 'image/png',
      },
      good: png,
    })
    expect(created).toHaveLength(1)
    expect(errors).toMatchObject([
      { code: 'asset_invalid', mime: 'image/png', origin: '/bad', tool: 't' },
    ])
  })

  it('replaces data URLs inside text in place', async () => {
    const { value } = await extract(`# Chart\n![a](data:image/png;base64,${PNG}) and text`)
    expect(value).toMatch(/^# Chart\n!\[a\]\(<\|asset:\/\/[0-9a-z]+\|>\) and text$/)
  })

  it('gives the same object back when there is nothing to extract', async () => {
    for (const same of [
      { a: [1, 'data: hello world', { dataUrl: 'https://x.org/a.png' }] },
      { dataUrl: 'asset://abc' },
      { mimeType: 'image/png' },
      'data: {"a":1}\n\ndata: [DONE]\n\n',
      { assetRef: 'asset://abc', dataUrl: `data:image/png;base64,${PNG}` },
      { hash: 'a'.repeat(5000) },
    ]) {
      expect((await extract(same)).value).toBe(same)
    }
  })

  it('tells handlers, who can read the body and never carry it', async () => {
    const events: AssetEvent[] = []
    await extract({ mimeType: 'image/png', dataBase64: PNG }, { events })
    const [event] = events
    expect(event?.type).toBe('ASSET_CREATED')
    expect((event as { payload: { base64?: string } }).payload.base64).toBe(PNG)
    expect(JSON.stringify(event)).not.toContain(PNG.slice(0, 40))
  })
})
