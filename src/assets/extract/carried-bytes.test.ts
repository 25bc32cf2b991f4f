import { describe, expect, it } from 'vitest'
import { withoutCarriedBytes } from './carried-bytes.ts'

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
    ['what is in a Map', new Map([['k', { assetRef, base64 }]]), new Map([['k', { assetRef }]])],
    [
      'what is below a reference',
      { assetRef, a: { assetRef, base64 } },
      { assetRef, a: { assetRef } },
    ],
  ])('drops %s', (_, value, expected) => {
    const before = structuredClone(value)
    expect(withoutCarriedBytes(value)).toEqual(expected)
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
    expect(withoutCarriedBytes(value)).toBe(value)
  })

  it('shares unchanged parts, and survives depth and cycles', () => {
    const rows = [{ a: 1 }]
    const value = withoutCarriedBytes({ rows, image: { assetRef, dataUrl } })
    expect((value as { rows: unknown }).rows).toBe(rows)
    let deep: unknown = { assetRef, dataUrl }
    for (let i = 0; i < 100_000; i++) deep = [deep]
    let at = withoutCarriedBytes(deep)
    for (let i = 0; i < 100_000; i++) at = (at as unknown[])[0]
    expect(at).toEqual({ assetRef })
    const cycle: Record<string, unknown> = { assetRef, dataUrl }
    cycle.self = cycle
    const copy = withoutCarriedBytes(cycle) as Record<string, unknown>
    expect(Object.keys(copy)).toEqual(['assetRef', 'self'])
    expect(copy.self).toBe(copy)
  })
})
