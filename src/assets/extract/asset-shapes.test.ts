import { describe, expect, it } from 'vitest'
import { jsonValue } from '../../boundary/store.ts'
import { withoutCarriedBytes } from './asset-shapes.ts'

const assetRef = 'asset://abc'
const base64 = 'iVBORw0KGgo='
const dataUrl = `data:image/png;base64,${base64}`

describe('withoutCarriedBytes', () => {
  it.each<[string, unknown, unknown]>([
    ['a data URL', { assetRef, dataUrl, caption: 'a' }, { assetRef, caption: 'a' }],
    ['base64', { assetRef, dataBase64: base64, base64 }, { assetRef }],
    [
      'typed base64',
      { assetRef, type: 'image', mimeType: 'image/png', data: base64 },
      { assetRef, type: 'image', mimeType: 'image/png' },
    ],
    [
      'bytes',
      { assetRef, bytes: new Uint8Array(3), view: new DataView(new ArrayBuffer(1)) },
      { assetRef },
    ],
    ['a data URL under any key', { assetRef, thumbnail: dataUrl }, { assetRef }],
    ['a broken data URL', { assetRef, dataUrl: `${dataUrl} ${base64}` }, { assetRef }],
    ['what is nested', [{ file: { assetRef, dataUrl }, n: 1 }], [{ file: { assetRef }, n: 1 }]],
    ['what is in a Map', new Map([['k', { assetRef, base64 }]]), { k: { assetRef } }],
    [
      'what is below a reference',
      { assetRef, a: { assetRef, base64 } },
      { assetRef, a: { assetRef } },
    ],
  ])('drops %s', (_, value, expected) => {
    const before = structuredClone(value)
    expect(jsonValue(value, withoutCarriedBytes)).toEqual(expected)
    expect(value).toEqual(before)
  })

  it.each<[string, unknown]>([
    ['a reference', { assetRef, mimeType: 'image/png', kind: 'image', size: 3 }],
    ['bytes without a reference', { dataUrl, nested: { base64 }, bytes: new Uint8Array(2) }],
    ['what names no asset', { assetRef: 'abc', dataUrl }],
    ['an ordinary URL', { assetRef, dataUrl: 'https://example.com/a.png', url: 'https://a.org' }],
    ['text', { assetRef, text: `see ![](${dataUrl})`, data: 'abcdefgh', mimeType: 'text/plain' }],
    ['text that is a data URL', { assetRef, text: dataUrl, startLine: 1, endLine: 1 }],
    ['dates, typed arrays, nothing', [new Date(), new Float32Array(2), null, undefined, 5n]],
  ])('leaves alone: %s', (_, value) => {
    expect(jsonValue(value, withoutCarriedBytes)).toEqual(jsonValue(value))
  })

  it('returns an object without such bytes itself', () => {
    const value = { assetRef, mimeType: 'image/png' }
    expect(withoutCarriedBytes(value, '')).toBe(value)
  })

  it('works at any depth', () => {
    let deep: unknown = { assetRef, dataUrl }
    for (let i = 0; i < 10_000; i++) deep = [deep]
    let at = jsonValue(deep, withoutCarriedBytes)
    for (let i = 0; i < 10_000; i++) at = (at as unknown[])[0]
    expect(at).toEqual({ assetRef })
  })
})
