import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ByrefError } from '../errors.ts'
import { parseAssetRef } from '../refs/asset-ref.ts'
import { resolveFieldPath } from '../refs/field-path.ts'
import { assetMeta } from './asset-meta.ts'
import { flatten, unflatten } from './flatten.ts'

const META = assetMeta({
  asset_type: 'asset_example',
  asset_id: '<asset_id>',
  content_type: "<class 'dict'>",
  content: {
    image: new Float64Array(4),
    source_url: '<the_image_source_url>',
    labels: ['<label_1>', '<label_2>'],
  },
})

const anyKey = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.constantFrom(
    '',
    ' ',
    'a ',
    'a/b',
    '100%',
    '%2F',
    '0',
    '1',
    '__proto__',
    'constructor',
    'US Gross',
    'a.b',
    '\n',
  ),
)
const { value: anyMeta } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.oneof(
      fc.string(),
      fc.integer(),
      fc.boolean(),
      fc.constantFrom("<class 'Map'>", "<class 'dict'>", "\\<class 'list'>", '<cycle>'),
    ),
    fc.array(tie('value'), { maxLength: 4 }),
    fc
      .array(fc.tuple(anyKey, tie('value')), { maxLength: 4 })
      .map((entries) => fromEntries(entries)),
  ),
}))

function fromEntries(entries: [string, unknown][]): object {
  const object = {}
  for (const [key, value] of entries) {
    Object.defineProperty(object, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  return object
}

describe('flatten', () => {
  it("returns the reference's example, key for key and in order", () => {
    expect(JSON.stringify(flatten(META), null, 2)).toBe(`{
  "asset_type": "asset_example",
  "asset_id": "<asset_id>",
  "content_type": "<class 'dict'>",
  "content": "<class 'dict'>",
  "content/image": "<class 'Float64Array'>",
  "content/source_url": "<the_image_source_url>",
  "content/labels": "<class 'list'>",
  "content/labels/0": "<label_1>",
  "content/labels/1": "<label_2>"
}`)
  })

  it('leaves out container lines on request, and joins with another separator', () => {
    expect(flatten(META, { sep: '.', keepContainerType: false })).toEqual({
      asset_type: 'asset_example',
      asset_id: '<asset_id>',
      content_type: "<class 'dict'>",
      'content.image': "<class 'Float64Array'>",
      'content.source_url': '<the_image_source_url>',
      'content.labels.0': '<label_1>',
      'content.labels.1': '<label_2>',
    })
  })

  it('escapes the separator and % in keys', () => {
    expect(Object.keys(flatten({ 'a/b': { '100%': 1, 'c.d': 2 } }))).toEqual([
      'a%2Fb',
      'a%2Fb/100%25',
      'a%2Fb/c.d',
    ])
    expect(Object.keys(flatten({ 'a/b': { 'c.d': 2 } }, { sep: '.' }))).toEqual([
      'a/b',
      'a/b.c%2Ed',
    ])
    expect(Object.keys(flatten({ 'a:': { b: 1 } }, { sep: '::' }))).toEqual(['a%3A', 'a%3A::b'])
  })

  it('shows empty containers and empty keys', () => {
    expect(flatten({ a: {}, b: [], '': { '': 1 } })).toEqual({
      a: "<class 'dict'>",
      b: "<class 'list'>",
      '/': "<class 'dict'>",
      '//': 1,
    })
  })

  it('rejects a separator that is ambiguous in keys', () => {
    for (const sep of ['', '%', 'a', '1', '.2']) {
      expect(() => flatten({}, { sep })).toThrow(ByrefError)
    }
  })

  it('makes keys that can be appended to asset://id/', () => {
    fc.assert(
      fc.property(anyMeta, (content) => {
        const asset = { asset_id: 'id', content_type: 'x', content }
        for (const [key, line] of Object.entries(flatten(asset))) {
          const parts = parseAssetRef(`asset://id/${key}`)
          expect(parts).toMatchObject({ id: 'id' })
          const value = resolveFieldPath(asset, parts?.fieldPath ?? [])
          const type = Array.isArray(value) ? "<class 'list'>" : "<class 'dict'>"
          const text = /^\\*<class '(dict|list)'>$/.test(String(value)) ? `\\${value}` : value
          expect(line).toBe(typeof value === 'object' ? type : text)
        }
      }),
    )
  })

  it('goes as deep as the value', () => {
    let value: unknown = 'bottom'
    for (let i = 0; i < 3000; i++) value = [value]
    expect(Object.keys(flatten({ value }))).toHaveLength(3001)
  })
})

describe('unflatten', () => {
  it('rejects fields of values that are not containers', () => {
    const refused = (flat: object) =>
      expect(() => unflatten(flat)).toThrow(expect.objectContaining({ code: 'invalid_data' }))
    refused({ a: 1, 'a/b': 2 })
    refused({ a: null, 'a/b': 2 })
    refused({ a: 5n, 'a/b/c': 2 })
    expect(() => unflatten({ x: 1, 'x/y/z': 2 })).toThrow('"x" is 1 and has no fields')
  })

  it("never changes the caller's object", () => {
    const flat = { a: { y: 1 }, 'a/x': 2, list: [1], 'list/1': 3 }
    expect(unflatten(flat)).toEqual({ a: { y: 1, x: 2 }, list: [1, 3] })
    expect(flat).toEqual({ a: { y: 1 }, 'a/x': 2, list: [1], 'list/1': 3 })
  })

  it("restores the reference's example", () => {
    expect(JSON.stringify(unflatten(flatten(META)))).toBe(JSON.stringify(META))
    expect(unflatten(flatten(META, { sep: '.' }), { sep: '.' })).toEqual(META)
  })

  it('is the inverse of flatten, for any content and separator', () => {
    fc.assert(
      fc.property(anyMeta, fc.constantFrom('/', '.', '::', ' ', '→', '-'), (content, sep) => {
        const meta = {
          asset_id: 'a',
          description: "<class 'dict'>",
          content_type: "<class 'list'>",
          content,
        }
        const back = unflatten(flatten(meta, { sep }), { sep })
        expect(JSON.stringify(back)).toBe(JSON.stringify(meta))
      }),
      { numRuns: 500 },
    )
  })

  it('is the inverse without container lines, except for empty containers', () => {
    const meta = {
      asset_id: 'a',
      content_type: 'x',
      content: { rows: [[1, 2], { a: ['x'] }], other: { 1: 'a' } },
    }
    const options = { keepContainerType: false }
    expect(unflatten(flatten(meta, options), options)).toEqual(meta)
    expect(unflatten(flatten({ content: { a: [], b: 1 } }, options), options)).toEqual({
      content: { b: 1 },
    })
  })

  it('never changes a prototype', () => {
    unflatten({ '__proto__/polluted': 1, 'constructor/prototype/polluted': 1 })
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })

  it('rejects lines that contradict each other', () => {
    expect(() => unflatten({ list: "<class 'list'>", 'list/7': 1 })).toThrow(
      '"list/7" is not the next item of its list',
    )
  })
})
