import fc from 'fast-check'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { ByrefError } from '../errors.ts'
import {
  ASSET_FIELDS,
  type AssetRefParts,
  assertAssetId,
  extractAssetId,
  formatAssetRef,
  isAssetId,
  isAssetRef,
  parseAssetRef,
  toAssetRef,
} from './asset-ref.ts'

const anyText = fc.string({ unit: 'binary', minLength: 0 })
const anyKey = fc.oneof(
  anyText,
  fc.nat(),
  fc.constantFrom('', '0', '007', 'a/b', '100%', '%zz', '中 +', '..', '__proto__'),
)
const anyId = anyText.filter(isAssetId)

describe('parseAssetRef', () => {
  it.each<[string, AssetRefParts]>([
    ['asset://abc123', { id: 'abc123' }],
    ['asset://abc123/', { id: 'abc123' }],
    ['asset://tenant-123/abc123', { id: 'abc123', namespace: 'tenant-123' }],
    ['asset://abc123/content/0', { id: 'abc123', fieldPath: ['content', 0] }],
    [
      'asset://tenant-123/abc123/content/image',
      { id: 'abc123', namespace: 'tenant-123', fieldPath: ['content', 'image'] },
    ],
    [
      'asset://chart7/content/series/0/label',
      { id: 'chart7', fieldPath: ['content', 'series', 0, 'label'] },
    ],
    ['asset://chart7/asset_name', { id: 'chart7', fieldPath: ['asset_name'] }],
    ['ASSET://MyId/content', { id: 'MyId', fieldPath: ['content'] }],
    ['Asset://MyId/Content', { id: 'Content', namespace: 'MyId' }],
    ['  asset://a/content\n', { id: 'a', fieldPath: ['content'] }],
    ['asset://a%2Fb/content', { id: 'a/b', fieldPath: ['content'] }],
    ['asset://a%252Fb', { id: 'a%2Fb' }],
    ['asset://100%/content/%zz', { id: '100%', fieldPath: ['content', '%zz'] }],
    ['asset://a/content/%E4%B8%AD%zz%ff', { id: 'a', fieldPath: ['content', '中%zz%ff'] }],
    ['asset://a/content/%C0%80%ED%A0%80', { id: 'a', fieldPath: ['content', '%C0%80%ED%A0%80'] }],
    ['asset://a+b/content/x+y', { id: 'a+b', fieldPath: ['content', 'x+y'] }],
    ['asset://a/content/US Gross?#@:', { id: 'a', fieldPath: ['content', 'US Gross?#@:'] }],
    ['asset://a/content//', { id: 'a', fieldPath: ['content', ''] }],
    ['asset://a/content//x', { id: 'a', fieldPath: ['content', '', 'x'] }],
    ['asset://a/content/x/', { id: 'a', fieldPath: ['content', 'x'] }],
    ['asset://a/content/07/1e3/-1', { id: 'a', fieldPath: ['content', '07', '1e3', '-1'] }],
    [
      'asset://a/content/99999999999999999999',
      { id: 'a', fieldPath: ['content', '99999999999999999999'] },
    ],
    ['asset://a/content/../..', { id: 'a', fieldPath: ['content', '..', '..'] }],
    [
      'asset://the_asset_id/path/to/the/image/object',
      { id: 'the_asset_id', fieldPath: ['path', 'to', 'the', 'image', 'object'] },
    ],
  ])('reads %s', (url, parts) => {
    expect(parseAssetRef(url)).toStrictEqual(parts)
  })

  it.each([
    'asset://',
    'asset:///x',
    'asset://a//b',
    'asset://a//',
    'asset://../x',
    'asset://x/..',
    'asset://.',
    'asset://content',
    'asset://content/0',
    'asset://content/content',
    'asset://asset_id/a',
    'asset://a%00b',
    'asset://a%C2%85b',
    `asset://${'x'.repeat(201)}`,
    'see asset://id/content',
    'asset:/id',
    'asset:id',
    'https://example.com',
    'data:,x',
    'abc123',
    '',
  ])('refuses %s', (url) => {
    expect(parseAssetRef(url)).toBeNull()
    expect(isAssetRef(url)).toBe(false)
  })

  it.each<[object, AssetRefParts]>([
    [{ asset_id: 'a', field_path: null }, { id: 'a' }],
    [{ asset_id: 'a', field_path: [] }, { id: 'a' }],
    [{ asset_id: 'a' }, { id: 'a' }],
    [
      { asset_id: 'a', field_path: ['content', 0, '0', ''] },
      { id: 'a', fieldPath: ['content', 0, '0', ''] },
    ],
    [
      { asset_id: 'a', field_path: null, namespace: 't' },
      { id: 'a', namespace: 't' },
    ],
    [
      { asset_id: 'a', field_path: ['series', 0] },
      { id: 'a', fieldPath: ['series', 0] },
    ],
  ])('reads the object %j', (object, parts) => {
    expect(parseAssetRef(object as never)).toStrictEqual(parts)
  })

  it.each([
    { asset_id: 1, field_path: null },
    { asset_id: '', field_path: null },
    { asset_id: 'content', field_path: null },
    { asset_id: 'a', field_path: 'content' },
    { asset_id: 'a', field_path: [-1] },
    { asset_id: 'a', field_path: [1.5] },
    { asset_id: 'a', field_path: [null] },
    { asset_id: 'a', field_path: [''] },
    { asset_id: 'a', field_path: null, namespace: '' },
    { asset_id: 'a', field_path: null, namespace: null },
    { asset_id: 'a', field_path: null, namespace: undefined, extra: 1 },
    { asset_id: 'a', field_path: null, extra: 1 },
    { field_path: ['content'] },
    {},
    [],
    null,
    undefined,
    7,
  ])('refuses the object %j', (object) => {
    expect(parseAssetRef(object as never)).toBeNull()
    expect(isAssetRef(object)).toBe(false)
  })

  it('never throws, for any text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          anyText,
          anyText.map((text) => `asset://${text}`),
        ),
        (text) => {
          const parts = parseAssetRef(text)
          expect(isAssetRef(text)).toBe(parts !== null)
          if (parts) expect(isAssetId(parts.id)).toBe(true)
        },
      ),
    )
  })

  it('handles hostile text', () => {
    expect(parseAssetRef(`asset://a${' '.repeat(1e6)}`)).toEqual({ id: 'a' })
    expect(parseAssetRef(`asset://a${' '.repeat(1e6)}x`)).toBeNull()
    expect(parseAssetRef(`asset://a/content${'/'.repeat(1e6)}`)?.fieldPath).toHaveLength(1e6)
    expect(parseAssetRef(`asset://a/content/${'%'.repeat(1e6)}`)?.fieldPath?.[1]).toHaveLength(1e6)
    expect(parseAssetRef(`asset://a/content/${'%E4%B8'.repeat(2e5)}`)?.fieldPath).toHaveLength(2)
  })
})

describe('types', () => {
  it('are those that the architecture defines', () => {
    expectTypeOf(isAssetRef).toEqualTypeOf<(value: unknown) => boolean>()
    expectTypeOf(parseAssetRef).returns.toEqualTypeOf<{
      id: string
      namespace?: string
      fieldPath?: (string | number)[]
    } | null>()
    expectTypeOf(extractAssetId).returns.toBeString()
    expectTypeOf(formatAssetRef).returns.toBeString()
  })
})

describe('isAssetRef', () => {
  it('accepts an object as a reference only with its field_path', () => {
    expect(isAssetRef({ asset_id: 'a', field_path: null })).toBe(true)
    expect(isAssetRef({ asset_id: 'a', field_path: ['content'], namespace: 't' })).toBe(true)
    expect(isAssetRef({ asset_id: 'a' })).toBe(false)
  })

  it('accepts own properties of an object, and ignores inherited ones', () => {
    const inherited = Object.create({ asset_id: 'a', field_path: null })
    expect(isAssetRef(inherited)).toBe(false)
    expect(parseAssetRef(inherited)).toBeNull()
    expect(
      parseAssetRef(Object.assign(Object.create({ asset_id: 'a' }), { field_path: null })),
    ).toBeNull()
    const named = Object.assign(Object.create({ namespace: 't', field_path: ['content'] }), {
      asset_id: 'a',
    })
    expect(parseAssetRef(named)).toEqual({ id: 'a' })
    expect(isAssetRef(named)).toBe(false)
  })
})

describe('extractAssetId', () => {
  it.each([
    ['asset://abc123', 'abc123'],
    ['asset://tenant-123/abc123', 'abc123'],
    ['asset://abc123/content/0', 'abc123'],
    ['abc123', 'abc123'],
    ['my file.txt', 'my file.txt'],
    ['folder/file', 'folder/file'],
    ['100%', '100%'],
  ])('%s names %s', (ref, id) => {
    expect(extractAssetId(ref)).toBe(id)
  })

  it.each([
    '',
    'content',
    '..',
    'asset://',
    'asset://a//b',
    'https://example.com',
    'x'.repeat(201),
    'a\nb',
  ])('throws on %j', (ref) => {
    expect(() => extractAssetId(ref)).toThrow(ByrefError)
    expect(() => extractAssetId(ref)).toThrow(/is not an asset reference/)
  })

  it('throws if the value is not a reference', () => {
    for (const ref of [null, undefined, 7, 7n, {}]) {
      expect(() => extractAssetId(ref as never)).toThrow(
        expect.objectContaining({ code: 'invalid_reference' }),
      )
    }
  })
})

describe('formatAssetRef', () => {
  it.each<[AssetRefParts, string]>([
    [{ id: 'abc123' }, 'asset://abc123'],
    [{ id: 'abc123', fieldPath: [] }, 'asset://abc123'],
    [{ id: 'abc123', namespace: 'tenant-123' }, 'asset://tenant-123/abc123'],
    [{ id: 'abc123', fieldPath: ['content', 0, 'x'] }, 'asset://abc123/content/0/x'],
    [
      { id: 'a/b c', namespace: 't/1', fieldPath: ['content', 'ö?#'] },
      'asset://t%2F1/a%2Fb%20c/content/%C3%B6%3F%23',
    ],
    [{ id: 'a', fieldPath: ['content', ''] }, 'asset://a/content//'],
    [{ id: 'a', fieldPath: ['content', '2024'] }, 'asset://a/content/%32024'],
    [{ id: 'a', fieldPath: ['series', 0] }, 'asset://a/series/0'],
  ])('writes %j', (parts, url) => {
    expect(formatAssetRef(parts)).toBe(url)
  })

  it.each<AssetRefParts>([
    { id: '' },
    { id: 'content' },
    { id: 'a', namespace: '..' },
    { id: 'a', namespace: '' },
    { id: 'a', fieldPath: ['series'] },
    { id: 'a', fieldPath: ['x', 'content'] },
    { id: 'a', namespace: 't', fieldPath: ['series', 0] },
    { id: 'a', fieldPath: ['', 0, 1] },
    { id: 'a', fieldPath: ['content', -1] },
    { id: 'a', fieldPath: ['content', 0.5] },
  ])('refuses %j, which would read as something else', (parts) => {
    expect(() => formatAssetRef(parts)).toThrow(
      expect.objectContaining({ code: 'invalid_reference' }),
    )
  })

  it('is the inverse of parseAssetRef, for any keys', () => {
    const parts = fc.record(
      {
        id: anyId,
        namespace: anyId,
        fieldPath: fc
          .tuple(fc.constantFrom(...ASSET_FIELDS), fc.array(anyKey))
          .map(([field, keys]) => [field, ...keys]),
      },
      { requiredKeys: ['id'], noNullPrototype: true },
    )
    fc.assert(
      fc.property(parts, (given) => {
        expect(parseAssetRef(formatAssetRef(given))).toStrictEqual(given)
        expect(parseAssetRef(JSON.parse(JSON.stringify(toAssetRef(given))))).toEqual(given)
      }),
      { numRuns: 500 },
    )
  })

  it('is the inverse for any path that it accepts, or rejects', () => {
    fc.assert(
      fc.property(
        anyId,
        fc.option(anyId, { nil: undefined }),
        fc.array(anyKey, { minLength: 1 }),
        (id, namespace, fieldPath) => {
          const parts = namespace === undefined ? { id, fieldPath } : { id, namespace, fieldPath }
          let url: string
          try {
            url = formatAssetRef(parts)
          } catch (error) {
            expect(error).toBeInstanceOf(ByrefError)
            return
          }
          expect(parseAssetRef(url)).toStrictEqual(parts)
        },
      ),
    )
  })
})

describe('assertAssetId', () => {
  it('reports what a valid id is', () => {
    for (const id of ['content', '..', '', 'x'.repeat(201), 'a\u0007', 7, undefined]) {
      expect(() => assertAssetId(id as string)).toThrow(
        'is not a valid asset id. Use 1 to 200 characters',
      )
    }
    expect(() => assertAssetId('..', 'namespace')).toThrow('".." is not a valid namespace')
    expect(() => assertAssetId('ein/Bild 中')).not.toThrow()
  })
})
