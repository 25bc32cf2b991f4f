import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bodyRanges, type ContentAccess, ContentCache } from '../content-access.ts'
import { createAssets } from '../create-assets.ts'
import { createMemoryAssetStore } from '../stores/memory.ts'
import { JsonScanner, type ScannedEntry } from './json-entries.ts'
import { NotJsonError } from './json-walker.ts'
import { openLargeJson } from './large-json.ts'

/** Scans a text in chunks of this many bytes. */
function scan(text: string | Uint8Array, size = 1 << 20) {
  const entries: ScannedEntry[] = []
  const scanner = new JsonScanner((entry) => entries.push(entry))
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) scanner.write(bytes.subarray(at, at + size))
  scanner.finish()
  return { entries, root: scanner.root, depth: scanner.depth }
}

function isJson(read: () => unknown): boolean {
  try {
    read()
    return true
  } catch (error) {
    if (error instanceof NotJsonError || error instanceof SyntaxError) return false
    throw error
  }
}

/** Unusual JSON: escapes, white space, exponents, repeated keys. */
const anyJson = fc.letrec<{ value: string }>((tie) => {
  const space = fc.constantFrom('', ' ', '\n', '\r\n\t')
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 8 }).map((one) => JSON.stringify(one)),
    fc.constantFrom(
      '"a"',
      '"a"',
      '"__proto__"',
      '"1"',
      '"0"',
      '"\\u0061"',
      '"\\ud83d\\ude00\\/\\b"',
      '"é漢😀"',
    ),
  )
  const number = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc.constantFrom('-0', '1e400', '1E+2', '0.10e-3', '1234567890123456789'),
  )
  const list = fc.array(tie('value'), { maxLength: 6 })
  const fields = fc.array(fc.tuple(text, space, tie('value')), { maxLength: 6 })
  return {
    value: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      fc.constantFrom('true', 'false', 'null'),
      text,
      number,
      fc.tuple(space, list).map(([gap, items]) => `[${gap}${items.join(`${gap},${gap}`)}${gap}]`),
      fields.map(
        (all) =>
          `{${all.map(([key, gap, value]) => `${gap}${key}${gap}:${gap}${value}${gap}`).join(',')}}`,
      ),
    ),
  }
}).value

describe('JsonScanner', () => {
  it('accepts what JSON.parse accepts, wherever chunks end', () => {
    fc.assert(
      fc.property(anyJson, fc.integer({ min: 1, max: 7 }), (json, size) => {
        const value = JSON.parse(json)
        const { entries, root } = scan(` ${json}\n`, size)
        const parts = entries.map((one) => [
          one.key,
          JSON.parse(Buffer.from(` ${json}`).subarray(one.valueStart, one.end).toString()),
        ])
        if (root === 'list') expect(parts.map(([, item]) => item)).toEqual(value)
        else if (root === 'object') expect(Object.fromEntries(parts)).toEqual(value)
        else expect(entries).toEqual([])
      }),
      { numRuns: 500 },
    )
  })

  it('rejects what JSON.parse rejects', () => {
    const damage = fc.constantFrom(
      '',
      ',',
      '}',
      ']',
      '"',
      '\\',
      '\u0001',
      '01',
      '-',
      '.5',
      '1.',
      '1e',
      'tru',
      'nul',
      '{',
      '[',
      ':',
      '\u00a0',
      '\\u12',
      "'",
    )
    fc.assert(
      fc.property(anyJson, damage, fc.nat(), fc.nat(3), (json, bad, place, cut) => {
        const at = place % (json.length + 1)
        const text = json.slice(0, at) + bad + json.slice(at + cut)
        expect(isJson(() => scan(text.toWellFormed(), 3))).toBe(
          isJson(() => JSON.parse(text.toWellFormed())),
        )
      }),
      { numRuns: 2000 },
    )
    for (const text of [
      '',
      ' ',
      '[1,]',
      '{"a":1,}',
      '{,}',
      '[}',
      '{"a"}',
      '1 2',
      '"\n"',
      '"\\x"',
      'truex',
      '00',
      '1.e1',
      '\ufeff1',
    ])
      expect([text, isJson(() => scan(text))]).toEqual([text, isJson(() => JSON.parse(text))])
  })

  it('counts the levels below the outermost', () => {
    expect(scan('[]').depth).toBe(0)
    expect(scan(`${'['.repeat(300)}${']'.repeat(300)}`).depth).toBe(299)
  })
})

/** JSON as a large body, even if it is small. */
async function open(json: string | Uint8Array, limits = { valueBytes: 1 << 30, depth: 1000 }) {
  const store = createMemoryAssetStore()
  const { info: record } = await store.save(Buffer.from(json), 'application/json', {})
  const access: ContentAccess = { store, cache: new ContentCache(1 << 24), limits }
  return openLargeJson(record, access, await bodyRanges(record, access.store))
}

/** Makes a value so large that it is not parsed at once. */
const FILL = 'x'.repeat(70_000)

describe('openLargeJson', () => {
  it('reads the same values as JSON.parse', async () => {
    const large = fc.constantFrom(
      `"${FILL}"`,
      `["${FILL}", {"a":"${FILL}"}]`,
      `{"0":"${FILL}","a":["${FILL}"]}`,
    )
    const lists = fc.array(fc.oneof(anyJson, large), { minLength: 5, maxLength: 9 })
    await fc.assert(
      fc.asyncProperty(lists, large, anyJson, async (items, one, small) => {
        const json = `{ "b": ${one}, "list": [ ${items.join(' , ')} ], "__proto__": ${small} , "a": ${one}, "b": [${one}, ${small}, ${one}, ${one}] }`
        const content = await open(json)
        const value = JSON.parse(json)
        const read = async (...path: (string | number)[]) => {
          const found = await content?.at(path)
          return found?.isFound ? found.value : found
        }
        expect(await content?.whole()).toEqual(value)
        expect(Object.keys((await content?.whole()) as object)).toEqual(Object.keys(value))
        expect(await read('b')).toEqual(value.b)
        expect(await read('b', 1)).toEqual(value.b[1])
        expect(await read('__proto__')).toEqual(JSON.parse(small))
        for (const [i, item] of value.list.entries()) expect(await read('list', i)).toEqual(item)
        expect(await read('list', '2')).toEqual(value.list[2])
      }),
      { numRuns: 40 },
    )
  })

  it('finds any item of a long list, and any key of a large object', async () => {
    const list = Array.from({ length: 150_000 }, (_, i) => ({ i, name: `row ${i}` }))
    const keys = Object.fromEntries(list.map(({ i }) => [`key ${i}`, i]))
    const content = await open(JSON.stringify({ list, keys }))
    for (const i of [0, 1, 2, 3, 65_535, 65_536, 99_999, 149_998, 149_999]) {
      expect(await content?.at(['list', i])).toEqual({ isFound: true, value: list[i] })
      expect(await content?.at(['list', i, 'name'])).toEqual({ isFound: true, value: `row ${i}` })
      expect(await content?.at(['keys', `key ${i}`])).toEqual({ isFound: true, value: i })
    }
    expect(await content?.at(['list', 150_000])).toMatchObject({
      isFound: false,
      depth: 1,
      container: { length: 150_000 },
    })
    expect(await content?.at(['list', 149_999, 'x', 'y'])).toMatchObject({
      isFound: false,
      depth: 2,
      container: list[149_999],
    })
    expect(await content?.at(['keys', 'none'])).toMatchObject({ isFound: false, depth: 1 })
    expect(JSON.stringify(await content?.whole())).toBe(JSON.stringify({ list, keys }))
  })

  it('finds keys even if there are too many to remember', async () => {
    const many = Array.from({ length: 300_000 }, (_, i) => `"k${i % 299_999}":${i}`).join(',')
    const content = await open(`{${many}}`)
    expect(await content?.at(['k0'])).toEqual({ isFound: true, value: 299_999 })
    expect(await content?.at(['k299998'])).toEqual({ isFound: true, value: 299_998 })
    expect(await content?.at(['k299999'])).toMatchObject({
      isFound: false,
      depth: 0,
      container: { k0: null, '<cut from 300000 items>': null },
    })
    expect(JSON.stringify(await content?.whole())).toBe(JSON.stringify(JSON.parse(`{${many}}`)))
  })

  it('skips a byte order mark, and keeps one inside a text', async () => {
    const json = JSON.stringify([`\ufeff${FILL}`, FILL, FILL, '\ufeff', FILL])
    const content = await open(`\ufeff${json}`)
    expect(await content?.whole()).toEqual(JSON.parse(json))
    expect(await content?.at([3])).toEqual({ isFound: true, value: '\ufeff' })
  })

  it('is null for text that is not JSON', async () => {
    expect(await open(`["${FILL}",`)).toBeNull()
    expect(await open(Buffer.from(`\ufeff["${FILL}"]`, 'utf16le'))).toBeNull()
  })

  it('has limits', async () => {
    const deep = `${'['.repeat(20)}"${FILL.repeat(5)}"${']'.repeat(20)}`
    await expect(open(deep, { valueBytes: 1e9, depth: 18 })).rejects.toMatchObject({
      code: 'too_deep',
    })
    const content = await open(JSON.stringify({ a: FILL.repeat(5), b: 1 }), {
      valueBytes: 300_000,
      depth: 9,
    })
    await expect(content?.at(['a'])).rejects.toMatchObject({ code: 'asset_too_large' })
    await expect(content?.whole()).rejects.toMatchObject({ code: 'asset_too_large' })
    expect(await content?.at(['b'])).toEqual({ isFound: true, value: 1 })
  })
})

describe('a field of large JSON', () => {
  const rows = Array.from({ length: 40_000 }, (_, i) => ({ id: i, city: `city ${i}` }))

  it('is read by ranges, from files and from structured content', async () => {
    const assets = createAssets()
    const file = await assets.save(Buffer.from(JSON.stringify({ rows })), 'application/json')
    const structured = await assets.saveAsset({ content_type: 'data', content: { rows } })
    for (const { ref } of [file, structured]) {
      expect(await assets.resolve(`${ref}/content/rows/39999/city`)).toBe('city 39999')
      await expect(assets.resolve(`${ref}/content/rows/40000`)).rejects.toThrow(
        /content\/rows has no 40000; it is a list of 40000, from 0\./,
      )
      await expect(assets.resolve(`${ref}/content/row`)).rejects.toThrow('it has 1: "rows"')
      expect(await assets.resolve(ref)).toEqual({ rows })
    }
  })

  it('that does not exist is explained with some keys and their number', async () => {
    const assets = createAssets()
    const keys = Array.from({ length: 40_000 }, (_, i) => `"key ${i % 39_999}":${i}`)
    const { ref } = await assets.save(Buffer.from(`{${keys.join(',')}}`), 'application/json')
    await expect(assets.resolve(`${ref}/content/none`)).rejects.toThrow(
      /has no "none"; it has 39999: "key 0", "key 1", .*"key 19", …\.$/,
    )
  })

  it('is read even if it contains byte markers, and in a store that can be read once', async () => {
    const assets = createAssets()
    const content = { rows, image: new Uint8Array([1, 2]) }
    const { ref } = await assets.saveAsset({ content_type: 'data', content })
    expect(await assets.resolve(`${ref}/content/image`)).toEqual(content.image)
    expect(await assets.resolve(`${ref}/content/rows/7/id`)).toBe(7)
    const once = createAssets({ config: { backend: 'passthrough' } })
    const file = await once.save(Buffer.from(JSON.stringify({ rows })), 'application/json')
    expect(await once.resolve(`${file.ref}/content/rows/7/id`)).toBe(7)
  })

  it('of a damaged body is text, as usual', async () => {
    const assets = createAssets()
    const text = `${JSON.stringify({ rows }).slice(0, -1)},`
    const { ref } = await assets.save(Buffer.from(text), 'application/json')
    expect(await assets.resolve(ref)).toBe(text)
    await expect(assets.resolve(`${ref}/content/rows`)).rejects.toMatchObject({
      code: 'field_not_found',
    })
  })
})
