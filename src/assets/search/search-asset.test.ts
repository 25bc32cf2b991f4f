import { describe, expect, it } from 'vitest'
import { fetchAssetTool, searchAssetTool } from '../asset-tools.ts'
import type { Assets } from '../assets-contract.ts'
import { createAssets } from '../create-assets.ts'
import type { SearchHit, SearchPage } from './search-asset.ts'

const code = (name: string) => expect.objectContaining({ code: name })

type Found = SearchPage & { assetRef: string }

function searching(assets: Assets, signal?: AbortSignal) {
  return (input: object): Promise<Found> =>
    searchAssetTool.execute({ ...input }, { assets, signal }) as Promise<Found>
}

async function textAsset(text: string | Uint8Array, mime = 'text/plain') {
  const assets = createAssets()
  const { ref } = await assets.save(typeof text === 'string' ? Buffer.from(text) : text, mime)
  return { ref, assets, search: searching(assets) }
}

async function dataAsset(content: unknown) {
  const assets = createAssets()
  const { ref } = await assets.saveAsset({ content_type: 'data', content })
  return { ref, assets, search: searching(assets) }
}

describe('searchAssetTool, in text', () => {
  it('returns line and column of each matching line, where fetch_asset can continue', async () => {
    const { ref, assets, search } = await textAsset('One fish\r\ntwo\r\nred FISH, blue fish\n')
    const found = await search({ ref, query: 'fish' })
    expect(found).toEqual({
      assetRef: ref,
      hits: [
        { line: 1, column: 5, text: 'One fish' },
        { line: 3, column: 5, text: 'red FISH, blue fish' },
      ],
      total: 2,
    })
    expect(await fetchAssetTool.execute({ ref, startLine: 3, endLine: 3 }, { assets })).toEqual({
      assetRef: ref,
      text: 'red FISH, blue fish',
      startLine: 3,
      endLine: 3,
      lines: 4,
    })
    const exact = await search({ ref, query: 'fish', caseSensitive: true })
    expect(exact.hits[1]).toMatchObject({ line: 3, column: 16 })
    expect(await search({ ref, query: 'absent' })).toEqual({ assetRef: ref, hits: [], total: 0 })
  })

  it('searches for plain text by default, and for expressions on request', async () => {
    const { ref, search } = await textAsset('a.c (x)\nabc\nend')
    const lines = async (input: object) =>
      (await search({ ref, ...input })).hits.map(({ line }) => line)
    expect(await lines({ query: 'a.c' })).toEqual([1])
    expect(await lines({ query: 'a.c', regex: true })).toEqual([1, 2])
    expect(await lines({ query: '(x)' })).toEqual([1])
    expect(await lines({ query: '^\\w{3}$', regex: true })).toEqual([2, 3])
    // By the rules of older expressions, not by those of Unicode.
    expect(await lines({ query: '\\-|\\(', regex: true })).toEqual([1])
  })

  it('finds letters of any language, in any case, and splits none', async () => {
    const { ref, search } = await textAsset(`ПРИВЕТ мир\n${'😀'.repeat(300)}é\n日本語`)
    expect((await search({ ref, query: 'привет' })).hits).toMatchObject([{ line: 1, column: 1 }])
    expect((await search({ ref, query: '本' })).hits).toMatchObject([{ line: 3, column: 2 }])
    const { hits } = await search({ ref, query: 'É' })
    expect(hits).toMatchObject([{ line: 2, column: 601 }])
    expect(hits[0]?.text.isWellFormed()).toBe(true)
    const utf16 = await textAsset(Buffer.from('\ufeffä\nö', 'utf16le'))
    expect((await utf16.search({ ref: utf16.ref, query: 'Ö' })).hits).toEqual([
      { line: 2, column: 1, text: 'ö' },
    ])
  })

  it('shows only the surroundings of a match', async () => {
    const { ref, search } = await textAsset(`${'x'.repeat(5_000)}needle${'y'.repeat(5_000)}`)
    const [hit] = (await search({ ref, query: 'needle' })).hits
    expect(hit).toMatchObject({ line: 1, column: 5_001 })
    expect(hit?.text).toMatch(/^…x+needley+…$/)
    expect(hit?.text.length).toBeLessThanOrEqual(202)
    const [long] = (await search({ ref, query: 'x{3000}', regex: true })).hits
    expect(long?.text.length).toBeLessThanOrEqual(202)
  })

  it('finds every match in a very long line, each once', async () => {
    // Some of them are at the boundaries of the searched parts.
    const at = [0, 15_997, 15_999, 16_000, 31_996, 47_000, 99_990]
    const line = Array.from('.'.repeat(100_000))
    for (const place of at) line.splice(place, 4, ...'miss')
    const columns = async (input: object) => {
      const { ref, search } = await textAsset(`first\n${line.join('')}\nlast`)
      return (await search({ ref, ...input })).hits.map(({ line, column }) => [line, column])
    }
    const all = [...line.join('').matchAll(/miss/g)].map(({ index }) => [2, index + 1])
    const found = await columns({ query: 'miss', limit: 100 })
    expect(all).toEqual(expect.arrayContaining(found))
    expect(new Set(found.map(String)).size).toBe(found.length)
    // One match for each part that contains one.
    expect(found.map(([, column]) => Math.floor(((column ?? 0) - 1) / 16_000))).toEqual([
      0, 1, 2, 6,
    ])
    // Only the beginning of the line itself matches.
    expect(await columns({ query: '^\\S', regex: true })).toEqual([
      [1, 1],
      [2, 1],
      [3, 1],
    ])
  })

  it('pages through all matches, in order, each once', async () => {
    const text = Array.from({ length: 1_000 }, (_, i) => `line ${i}${i % 3 ? '' : ' fizz'}`)
    const { ref, search } = await textAsset(text.join('\n'))
    const lines: unknown[] = []
    let page = await search({ ref, query: 'fizz', limit: 100 })
    const sizes = [page.hits.length]
    lines.push(...page.hits.map(({ line }) => line))
    while (page.more) {
      expect(page.total).toBeUndefined()
      page = await search({ ref, query: 'fizz', limit: 100, cursor: page.cursor })
      sizes.push(page.hits.length)
      lines.push(...page.hits.map(({ line }) => line))
    }
    expect(page).toMatchObject({ total: 334 })
    expect(sizes).toEqual([100, 100, 100, 34])
    expect(lines).toEqual(Array.from({ length: 334 }, (_, i) => i * 3 + 1))
    expect((await search({ ref, query: 'fizz' })).hits).toHaveLength(20)
    // All matches, and no additional page.
    expect(await search({ ref, query: 'line 99', limit: 11 })).toMatchObject({ total: 11 })
  })

  it('keeps a page short, however long its matches are', async () => {
    const { ref, search } = await textAsset(`${'word '.repeat(100)}\n`.repeat(300))
    const page = await search({ ref, query: 'word', limit: 100 })
    expect(JSON.stringify(page).length).toBeLessThan(20_000)
    const next = await search({ ref, query: 'word', limit: 100, cursor: page.cursor })
    expect(next.hits[0]?.line).toBe(page.hits.length + 1)
  })
})

describe('searchAssetTool, in tables and structured content', () => {
  it('returns the reference of each cell', async () => {
    const assets = createAssets()
    const csv = 'city,people\nOslo,700000\nRome,2800000\nNew Rome,12\n'
    const { table } = await assets.importFile(new Blob([csv]), { name: 'cities.csv' })
    const ref = table?.ref as string
    const search = searching(assets)
    expect((await search({ ref, query: 'rome' })).hits).toEqual([
      { ref: `${ref}/content/rows/1/city`, text: 'Rome' },
      { ref: `${ref}/content/rows/2/city`, text: 'New Rome' },
    ])
    expect((await search({ ref, query: '^28\\d+$', regex: true })).hits).toEqual([
      { ref: `${ref}/content/rows/1/people`, text: '2800000' },
    ])
  })

  it('finds leaves at any depth and under any key, by references that resolve', async () => {
    const odd = { 'a/b': { '2024': [{ 'ä ?#%': 'needle 1' }] }, '': 'needle 2' }
    const content = { odd, __proto: { x: true }, list: ['no', ['needle "3"\\']] }
    Object.defineProperty(content, '__proto__', { value: 'needle 4', enumerable: true })
    const { ref, assets, search } = await dataAsset(content)
    const { hits } = await search({ ref, query: 'needle' })
    expect(hits.map(({ text }) => text).sort()).toEqual([
      'needle "3"\\',
      'needle 1',
      'needle 2',
      'needle 4',
    ])
    for (const hit of hits) expect(await assets.resolve(hit.ref as string)).toBe(hit.text)
  })

  it('finds numbers, booleans and dates as they are written, and no empty cells', async () => {
    const content = {
      n: 1540.5,
      yes: true,
      none: null,
      when: new Date(0),
      big: 5n,
      map: new Map([['k', 'v9']]),
    }
    const { ref, assets, search } = await dataAsset(content)
    const one = async (query: string) => (await search({ ref, query })).hits
    expect(await one('540.5')).toEqual([{ ref: `${ref}/content/n`, text: '1540.5' }])
    expect(await one('true')).toEqual([{ ref: `${ref}/content/yes`, text: 'true' }])
    expect(await one('null')).toEqual([])
    expect(await one('1970')).toEqual([
      { ref: `${ref}/content/when`, text: '1970-01-01T00:00:00.000Z' },
    ])
    const [inMap] = await one('v9')
    expect(await assets.resolve(inMap?.ref as string)).toBe('v9')
  })

  it('finds the name of a field once, at its first occurrence', async () => {
    const rows = Array.from({ length: 50 }, (_, i) => ({
      town: `t${i}`,
      note: i === 7 ? 'town' : '',
    }))
    const { ref, search } = await dataAsset({ rows })
    expect((await search({ ref, query: 'town' })).hits).toEqual([
      { ref: `${ref}/content/rows/0/town`, key: true, text: 'town' },
      { ref: `${ref}/content/rows/7/note`, text: 'town' },
    ])
  })

  it('searches long leaves by line, and returns the position in them', async () => {
    const log = `start\n${'.'.repeat(300)}error 5\nend`
    const { ref, assets, search } = await dataAsset({ runs: [{ log }] })
    const [hit] = (await search({ ref, query: 'error' })).hits as [SearchHit]
    expect(hit).toMatchObject({ ref: `${ref}/content/runs/0/log`, line: 2, column: 301 })
    const page = await fetchAssetTool.execute(
      { ref: hit.ref, startLine: 2, startColumn: 301, endLine: 2 },
      { assets },
    )
    expect(page).toMatchObject({ text: 'error 5' })
  })

  it('searches below a field', async () => {
    const { ref, search } = await dataAsset({ a: [{ x: 'hit' }], b: { x: 'hit' } })
    const below = [{ ref: `${ref}/content/a/0/x`, text: 'hit' }]
    expect((await search({ ref: `${ref}/content/a`, query: 'hit' })).hits).toEqual(below)
    expect((await search({ ref, path: ['content', 'a'], query: 'hit' })).hits).toEqual(below)
    expect(await search({ ref, path: ['content', 'b', 'x'], query: 'i' })).toEqual({
      assetRef: `${ref}/content/b/x`,
      hits: [{ line: 1, column: 2, text: 'hit' }],
      total: 1,
    })
    await expect(search({ ref, path: ['content', 'c'], query: 'i' })).rejects.toEqual(
      code('field_not_found'),
    )
  })

  it('pages through leaves', async () => {
    const { ref, search } = await dataAsset(Array.from({ length: 250 }, (_, i) => ({ v: `x${i}` })))
    const refs: unknown[] = []
    let cursor: string | undefined
    do {
      const page: Found = await search({ ref, query: 'x', limit: 99, ...(cursor && { cursor }) })
      refs.push(...page.hits.map((hit) => hit.ref))
      cursor = page.cursor
    } while (cursor)
    expect(refs).toEqual(Array.from({ length: 250 }, (_, i) => `${ref}/content/${i}/v`))
  })

  it('reads invalid JSON as text', async () => {
    const broken = '{"a": 1,\n"b": oops needle\n'
    const { ref, search } = await textAsset(broken, 'application/json')
    expect((await search({ ref, query: 'needle' })).hits).toEqual([
      { line: 2, column: 11, text: '"b": oops needle' },
    ])
  })
})

describe('searchAssetTool, with problems', () => {
  it('stops an endless expression without blocking the process', async () => {
    const { ref, search } = await textAsset(`fine\n${'a'.repeat(50)}!`)
    let ticks = 0
    const ticking = setInterval(() => ticks++, 1)
    const stopped = search({ ref, query: '(a+)+$', regex: true })
    await expect(stopped).rejects.toEqual(code('tool_timeout'))
    await expect(stopped).rejects.toThrow('repetitions inside repetitions')
    clearInterval(ticking)
    expect(ticks).toBeGreaterThan(10)
  })

  it('stops when the call does', async () => {
    const { ref, assets } = await textAsset(`${'a'.repeat(50)}!`)
    const stop = new AbortController()
    const stopped = searching(assets, stop.signal)({ ref, query: '(a+)+$', regex: true })
    setTimeout(() => stop.abort(new Error('enough')), 300)
    await expect(stopped).rejects.toThrow('enough')
    const before = searching(assets, AbortSignal.abort(new Error('no more')))({ ref, query: 'a' })
    await expect(before).rejects.toThrow('no more')
  })

  it('reports what is wrong with its arguments', async () => {
    const { ref, search } = await textAsset('text')
    for (const input of [
      { query: '(', regex: true },
      { query: '' },
      { query: 5 },
      { query: 'x', limit: 0 },
      { query: 'x', limit: 101 },
      { query: 'x', cursor: 'page 2' },
      { query: 'x', path: 'content' },
    ]) {
      await expect(search({ ref, ...input })).rejects.toEqual(code('invalid_arguments'))
    }
    await expect(search({ ref, query: '[z-a]', regex: true })).rejects.toThrow('out of order')
    await expect(search({ query: 'x' })).rejects.toEqual(code('invalid_arguments'))
  })

  it('rejects assets that are not text', async () => {
    const { ref, search } = await textAsset(new Uint8Array([0, 1, 2, 255]), 'image/x-odd')
    await expect(search({ ref, query: 'x' })).rejects.toEqual(code('asset_unsupported'))
    await expect(search({ ref, query: 'x' })).rejects.toThrow('no text')
    await expect(search({ ref: 'asset://unknown', query: 'x' })).rejects.toEqual(
      code('asset_not_found'),
    )
  })

  it('finds nothing of another namespace', async () => {
    const all = createAssets({ config: { namespacing: { mode: 'context', includeInRef: true } } })
    const mine = all.scoped({ namespace: 'mine' })
    const { ref } = await mine.saveAsset({ content_type: 'data', content: { a: 'needle' } })
    const { hits } = await searching(mine)({ ref, query: 'needle' })
    expect(hits).toEqual([{ ref: `${ref}/content/a`, text: 'needle' }])
    const other = searching(all.scoped({ namespace: 'other' }))
    await expect(other({ ref, query: 'needle' })).rejects.toEqual(code('asset_not_found'))
  })
})
