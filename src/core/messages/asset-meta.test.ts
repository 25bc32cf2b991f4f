import { describe, expect, it } from 'vitest'
import { readCutMark } from '../json/cut.ts'
import { type Asset, assetMeta, metaOf } from './asset-meta.ts'

class Chart {
  title = 'Rain'
}

describe('assetMeta', () => {
  it("returns the reference's example, key for key", () => {
    const asset: Asset = {
      content: {
        image: new Float64Array(4),
        source_url: '<the_image_source_url>',
        labels: ['<label_1>', '<label_2>'],
      },
      content_type: "<class 'dict'>",
      asset_id: '<asset_id>',
      asset_type: 'asset_example',
    }
    expect(JSON.stringify(assetMeta(asset), null, 2)).toBe(
      JSON.stringify(
        {
          asset_type: 'asset_example',
          asset_id: '<asset_id>',
          content_type: "<class 'dict'>",
          content: {
            image: "<class 'Float64Array'>",
            source_url: '<the_image_source_url>',
            labels: ['<label_1>', '<label_2>'],
          },
        },
        null,
        2,
      ),
    )
  })

  it('leaves out fields without a value and fields that assets do not have', () => {
    const asset = {
      asset_id: 'a',
      asset_name: undefined,
      description: null,
      content_type: 'x',
      content: null,
      other: 1,
    }
    expect(Object.keys(assetMeta(asset as never))).toEqual(['asset_id', 'content_type'])
    expect(
      assetMeta({
        asset_id: 'a',
        asset_name: 'n',
        description: 'd',
        content_type: 'x',
        content: 'c',
      }),
    ).toEqual({
      asset_id: 'a',
      asset_name: 'n',
      description: 'd',
      content_type: 'x',
      content: 'c',
    })
  })
})

describe('metaOf', () => {
  it.each<[string, unknown, unknown]>([
    ['text', 'text', 'text'],
    ['a number', -0.5, -0.5],
    ['a boolean', false, false],
    ['null', null, "<class 'NoneType'>"],
    ['undefined', undefined, "<class 'NoneType'>"],
    ['a bigint', 12n, '12'],
    ['NaN', Number.NaN, 'NaN'],
    ['an infinity', Number.NEGATIVE_INFINITY, '-Infinity'],
    ['a Date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['no Date', new Date(Number.NaN), 'Invalid Date'],
    ['a URL', new URL('https://example.com/a'), 'https://example.com/a'],
    ['a Map', new Map([['a', 1]]), "<class 'Map'>"],
    ['a Set', new Set([1]), "<class 'Set'>"],
    ['bytes', new Uint8Array(9), "<class 'Uint8Array'>"],
    ['a buffer', new ArrayBuffer(9), "<class 'ArrayBuffer'>"],
    ['a Blob', new Blob(['x']), "<class 'Blob'>"],
    ['a class instance', new Chart(), "<class 'Chart'>"],
    ['a subclass without a name', new (class extends Chart {})(), "<class 'Chart'>"],
    ['a function', () => 1, "<class 'Function'>"],
    ['a symbol', Symbol('x'), "<class 'Symbol'>"],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    ['an object with a constructor key', { constructor: 1 }, { constructor: 1 }],
    [
      'missing values',
      { a: null, b: undefined, c: [null, undefined, 1] },
      { c: ["<class 'NoneType'>", "<class 'NoneType'>", 1] },
    ],
    ['empty containers', { a: {}, b: [] }, { a: {}, b: [] }],
    ['a sparse list', Object.assign(Array(2), { 1: 1 }), ["<class 'NoneType'>", 1]],
  ])('of %s', (_, value, meta) => {
    expect(metaOf(value)).toEqual(meta)
  })

  it('does not run getters or read bodies', () => {
    const value = {
      get body() {
        throw new Error('a getter was run')
      },
    }
    expect(metaOf(value)).toEqual({ body: "<class 'property'>" })
  })

  it('keeps __proto__ as a key', () => {
    const meta = metaOf(JSON.parse('{"__proto__":{"polluted":1}}')) as object
    expect(Object.keys(meta)).toEqual(['__proto__'])
    expect(JSON.stringify(meta)).toBe('{"__proto__":{"polluted":1}}')
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })

  it('marks cycles, and nothing else', () => {
    const shared = { x: 1 }
    const value: Record<string, unknown> = { first: shared, second: [shared] }
    value.self = value
    value.list = [value]
    expect(metaOf(value)).toEqual({
      first: { x: 1 },
      second: [{ x: 1 }],
      self: '<cycle>',
      list: ['<cycle>'],
    })
  })

  it('limits texts and lists, and gives their original size', () => {
    const text = metaOf('x'.repeat(1e6)) as string
    expect(text).toHaveLength(2000 + '<cut from 1000000 characters>'.length)
    expect(readCutMark(text, 'characters')).toBe(1e6)
    const list = metaOf(Array(1e6).fill(7)) as unknown[]
    expect(list).toHaveLength(101)
    expect(list.at(-1)).toBe('<cut from 1000000 items>')
    expect(metaOf(['ab', 'abc', 1], { text: 2, items: 2 })).toEqual([
      'ab',
      'ab<cut from 3 characters>',
      '<cut from 3 items>',
    ])
    expect(metaOf('x'.repeat(2000))).toHaveLength(2000)
    expect(metaOf(Array(100).fill(7))).toHaveLength(100)
  })

  it('limits the keys of an object, and gives their number', () => {
    const entries = Array.from({ length: 5000 }, (_, i) => [`k${i}`, i])
    const meta = metaOf({ wide: Object.fromEntries(entries), a: 1 }) as { wide: object; a: number }
    const shown = [...entries.slice(0, 1000), ['<cut from 5000 items>', '…']]
    expect(Object.entries(meta.wide)).toEqual(shown)
    expect(meta.a).toBe(1)
    expect(Object.entries(metaOf(meta.wide) as object)).toEqual(shown)
    const small = Object.fromEntries(entries.slice(0, 1000))
    expect(metaOf(small)).toEqual(small)
  })

  it('keeps the original size when it cuts again, and never splits a character', () => {
    const once = metaOf({ text: 'x'.repeat(50), list: [1, 2, 3, 4, 5] }, { text: 20, items: 4 })
    expect(metaOf(once, { text: 5, items: 2 })).toEqual({
      text: 'xxxxx<cut from 50 characters>',
      list: [1, 2, '<cut from 5 items>'],
    })
    expect(metaOf(once, { text: 20, items: 4 })).toEqual(once)
    expect(metaOf('😀😀😀', { text: 3 })).toBe('😀<cut from 6 characters>')
  })

  it('goes as deep as the value', () => {
    // With quadratic time, this would take a minute.
    const levels = 200_000
    let value: unknown = 'bottom'
    for (let i = 0; i < levels; i++) value = i % 2 ? [value] : { value }
    let meta: unknown = metaOf(value)
    for (let i = 0; i < levels; i++) meta = Object.values(meta as object)[0]
    expect(meta).toBe('bottom')
  })
})
