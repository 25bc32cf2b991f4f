import { describe, expect, it, vi } from 'vitest'
import { type AssetTool, fetchAssetTool, saveAssetTool, searchAssetTool } from './asset-tools.ts'
import { createAssets } from './create-assets.ts'
import { extractAssets } from './extract/extract.ts'
import { silentStore } from './fixtures/silent-store.ts'

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
const code = (name: string) => expect.objectContaining({ code: name })

describe('a tool that reads', () => {
  const fetched = (input: object) => [fetchAssetTool, input] as const
  it.each<readonly [AssetTool, object]>([
    ...[{}, { startLine: 1 }, { start: 1 }, { format: 'text', end: 2 }, { page: 1 }].map(fetched),
    [searchAssetTool, { query: 'x' }],
  ])('ends if it is aborted while the store is silent (%#)', async (tool, input) => {
    // The time limit for a document, which is read for several callers.
    const limit = new AbortController()
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(limit.signal)
    const assets = createAssets({ store: silentStore() })
    const isDocument = tool === searchAssetTool || 'page' in input
    const type = isDocument ? 'application/pdf' : 'text/plain'
    const { ref } = await assets.save(Buffer.from(isDocument ? '%PDF-1.4' : 'text'), type)
    const controller = new AbortController()
    const { signal } = controller
    const read = tool.execute({ ref, ...input }, { assets, signal })
    setTimeout(() => controller.abort(new Error('never mind')), 50)
    await expect(read).rejects.toThrow('never mind')
    limit.abort()
    timeout.mockRestore()
  })
})

describe('saveAssetTool', () => {
  it('saves nothing if a reference comes with new content', async () => {
    const assets = createAssets()
    const { ref } = await assets.save(Buffer.from('old'), 'text/plain')
    await expect(saveAssetTool.execute({ ref, text: 'new' }, { assets })).rejects.toEqual(
      code('invalid_arguments'),
    )
  })

  it('saves base64, and describes an existing reference', async () => {
    const assets = createAssets()
    const saved = await saveAssetTool.execute(
      { mimeType: 'image/jpeg', dataBase64: PNG, name: 'x.png' },
      { assets },
    )
    expect(saved).toEqual({
      assetRef: expect.stringMatching(/^asset:\/\//),
      mimeType: 'image/png',
      size: 70,
      kind: 'image',
    })
    const { assetRef: ref } = saved as { assetRef: string }
    expect(await saveAssetTool.execute({ ref }, { assets })).toEqual(saved)
    expect((await assets.list()).assets).toHaveLength(1)
  })

  it('saves text with the given type', async () => {
    const assets = createAssets()
    const save = async (input: object) => {
      const { assetRef } = (await saveAssetTool.execute({ ...input }, { assets })) as {
        assetRef: string
      }
      const { mime, name } = await assets.info(assetRef)
      return [mime, name, (await assets.text(assetRef)).text]
    }
    const text = '# Sum\n\n†state.total is <|asset://x|>, "quoted" — 7 €'
    expect(await save({ text, mimeType: 'text/markdown', name: 'sum.md' })).toEqual([
      ...['text/markdown', 'sum.md', text],
    ])
    expect(await save({ text: 'SGVsbG8=' })).toEqual(['text/plain', null, 'SGVsbG8='])
    expect(await save({ text: '{"a":1}', mimeType: 'application/json' })).toEqual([
      ...['application/json', null, '{"a":1}'],
    ])
  })

  it('rejects invalid base64, and missing data', async () => {
    const assets = createAssets()
    for (const input of [
      { mimeType: 'image/png', dataBase64: '***' },
      { mimeType: 'image/png' },
      { dataBase64: PNG },
      { dataBase64: PNG, mimeType: 'image/png', text: 'both' },
      { text: '' },
      {},
      { ref: 5 },
    ]) {
      await expect(saveAssetTool.execute(input, { assets })).rejects.toEqual(
        code('invalid_arguments'),
      )
    }
    await expect(saveAssetTool.execute({ ref: 'asset://x' }, { assets })).rejects.toEqual(
      code('asset_not_found'),
    )
  })
})

describe('fetchAssetTool', () => {
  it('returns a data URL or base64, by reference or id, which is not extracted again', async () => {
    const assets = createAssets()
    const { ref, assetId } = await assets.save(Buffer.from(PNG, 'base64'))
    const dataUrl = `data:image/png;base64,${PNG}`
    const fetched = await fetchAssetTool.execute({ ref, format: 'dataUrl' }, { assets })
    expect(fetched).toEqual({ assetRef: ref, dataUrl })
    expect(await fetchAssetTool.execute({ id: assetId }, { assets })).toEqual(fetched)
    const base64 = await fetchAssetTool.execute({ ref, format: 'base64' }, { assets })
    expect(base64).toEqual({ assetRef: ref, base64: PNG, mime: 'image/png' })
    for (const output of [fetched, base64]) {
      const { value, created } = await extractAssets(output, { assets })
      expect(value).toBe(output)
      expect(created).toEqual([])
    }
  })

  it('reads a range of bytes of a text as text, because a prompt has only whole files', async () => {
    const assets = createAssets()
    const part = async (body: string | Uint8Array, mime: string, range: object) => {
      const { ref } = await assets.save(Buffer.from(body), mime)
      return fetchAssetTool.execute({ ref, ...range }, { assets })
    }
    expect(await part('l1\nl2\nl3', 'text/plain', { start: 3, end: 5 })).toMatchObject({
      text: 'l2',
    })
    expect(await part('{"a": 1}', 'application/json', { start: 1, end: 7 })).toMatchObject({
      text: '"a": 1',
    })
    expect(await part('last', 'text/csv', { start: -2 })).toMatchObject({ text: 'st' })
    const latin = Buffer.from('née, héllo', 'latin1')
    expect(await part(latin, 'text/plain', { start: 5, end: 8 })).toMatchObject({ text: 'hél' })
    const late = Buffer.concat([Buffer.alloc(70_000, 'a'), latin])
    const range = { start: 70_000, end: 70_003 }
    expect(await part(late, 'text/plain', range)).toMatchObject({ text: 'née' })
    const cut = await part('aé€', 'text/plain', { start: 2, end: 5 })
    expect(cut).toMatchObject({ text: '\ufffd\ufffd' })
    const utf16 = Buffer.from('\ufeffhéllo', 'utf16le')
    expect(await part(utf16, 'text/plain', { start: 2, end: 6 })).toMatchObject({ text: 'hé' })
    expect(await part(PNG, 'image/png', { start: 0, end: 3 })).toHaveProperty('dataUrl')
    expect(await part('whole', 'text/plain', {})).toHaveProperty('dataUrl')
  })

  it('reads fields, ranges of bytes and of lines', async () => {
    const assets = createAssets()
    const rows = [{ 'a/b': 'x' }, { 'a/b': 'y' }]
    const { ref } = await assets.saveAsset({ content_type: 'data', content: { rows, '0': 'zero' } })
    const read = (input: object) =>
      fetchAssetTool.execute({ ref, format: 'text', ...input }, { assets })
    expect(await read({ path: ['content', 'rows', 1, 'a/b'] })).toMatchObject({ text: 'y' })
    expect(await read({ path: ['content', '0'] })).toMatchObject({ text: 'zero' })
    expect(await read({ ref: `${ref}/content/rows`, path: [0] })).toMatchObject({
      text: '{\n  "a/b": "x"\n}',
      startLine: 1,
      endLine: 3,
      lines: 3,
    })
    const note = await assets.save(Buffer.from('one\ntwo\nthree\nfour'), 'text/plain')
    expect(await read({ ref: note.ref, startLine: 2, endLine: 3 })).toEqual({
      assetRef: note.ref,
      text: 'two\nthree',
      startLine: 2,
      endLine: 3,
      lines: 4,
    })
    expect(await read({ ref: note.ref, start: -4 })).toMatchObject({ text: 'four' })
    expect(
      await fetchAssetTool.execute(
        { ref: note.ref, format: 'base64', start: 0, end: 3 },
        { assets },
      ),
    ).toMatchObject({ base64: 'b25l' })
  })

  it('pages long text, so that every line can be read', async () => {
    const assets = createAssets()
    const lines = Array.from({ length: 5000 }, (_, i) => `line ${i} of a long text`)
    const { ref } = await assets.save(Buffer.from(lines.join('\n')), 'text/plain')
    const read: string[] = []
    let startLine: number | undefined = 1
    let pages = 0
    while (startLine !== undefined) {
      const page = (await fetchAssetTool.execute(
        { ref, format: 'text', startLine },
        { assets },
      )) as {
        text: string
        nextStartLine?: number
      }
      expect(page.text.length).toBeLessThanOrEqual(17_000)
      read.push(...page.text.split('\n'))
      startLine = page.nextStartLine
      pages++
    }
    expect(read).toEqual(lines)
    expect(pages).toBeGreaterThan(3)
  })

  it('pages within a line, and streams what is too large for a value', async () => {
    const assets = createAssets({ config: { limits: { valueBytes: 1000 } } })
    const long = `${'x'.repeat(40_000)}\nlast`
    const { ref } = await assets.save(Buffer.from(long), 'text/plain')
    const read = (input: object) =>
      fetchAssetTool.execute({ ref, format: 'text', ...input }, { assets }) as Promise<{
        text: string
      }>
    const first = await read({})
    expect(first).toMatchObject({ nextStartLine: 1, nextStartColumn: 16_001, lines: 2 })
    const second = await read({ startLine: 1, startColumn: 16_001 })
    const third = await read({ startLine: 1, startColumn: 32_001 })
    expect([first, second, third].map(({ text }) => text).join('')).toBe(long)
    const utf16 = await assets.save(Buffer.from('\ufeffä\nö', 'utf16le'), 'text/plain')
    expect(await read({ ref: utf16.ref, startLine: 2 })).toMatchObject({ text: 'ö', lines: 2 })
  })

  it('writes any content as text, with references for what is not text', async () => {
    const assets = createAssets()
    const content = { n: 5n, map: new Map([['a', 1]]), image: new Uint8Array(3) }
    const { ref } = await assets.saveAsset({ content_type: 'data', content })
    const read = async (input: object) =>
      (await fetchAssetTool.execute({ ref, format: 'text', ...input }, { assets })) as object
    const { text } = (await read({})) as { text: string }
    const written = { n: '5', map: { a: 1 }, image: `${ref}/content/image` }
    expect(JSON.parse(text)).toEqual(written)
    expect(await read({ path: ['content', 'n'] })).toMatchObject({ text: '5' })
    await expect(read({ path: ['content', 'image'] })).rejects.toThrow('not text')
  })

  it('reports which field and which bytes it read', async () => {
    const assets = createAssets()
    const content = { image: new Uint8Array(Buffer.from(PNG, 'base64')) }
    const { ref } = await assets.saveAsset({ content_type: 'data', content })
    expect(await fetchAssetTool.execute({ ref, path: ['content', 'image'] }, { assets })).toEqual({
      assetRef: `${ref}/content/image`,
      dataUrl: `data:image/png;base64,${PNG}`,
    })
    const range = { ref: `${ref}/content/image`, format: 'base64', start: 1, end: 4 }
    expect(await fetchAssetTool.execute(range, { assets })).toEqual({
      assetRef: `${ref}/content/image`,
      base64: Buffer.from('PNG').toString('base64'),
      mime: 'image/png',
      start: 1,
      end: 4,
    })
  })

  it('reads structured content and lines as text, and files as data, by default', async () => {
    const assets = createAssets()
    const content = { word: 'x', image: new Uint8Array(Buffer.from(PNG, 'base64')) }
    const { ref } = await assets.saveAsset({ content_type: 'data', content })
    const read = (input: object) => fetchAssetTool.execute({ ...input }, { assets })
    expect(await read({ ref })).toMatchObject({ text: expect.stringContaining('"word": "x"') })
    expect(await read({ ref: `${ref}/content/word` })).toMatchObject({ text: 'x' })
    const image = await read({ ref: `${ref}/content/image` })
    expect(image).toMatchObject({ dataUrl: expect.stringMatching(/^data:image/) })
    const note = await assets.save(Buffer.from('one\ntwo'), 'text/plain')
    expect(await read({ ref: note.ref })).toMatchObject({ dataUrl: expect.any(String) })
    expect(await read({ ref: note.ref, startLine: 2 })).toMatchObject({ text: 'two' })
  })

  it('rejects impossible line numbers', async () => {
    const assets = createAssets()
    const { ref } = await assets.save(Buffer.from('text'), 'text/plain')
    for (const range of [{ startLine: 0 }, { endLine: -1 }, { startColumn: 1.5 }]) {
      await expect(fetchAssetTool.execute({ ref, ...range }, { assets })).rejects.toEqual(
        code('invalid_arguments'),
      )
    }
  })

  it.each([
    ['image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg">\n<rect id="bar1"/>\n</svg>'],
    ['application/yaml', 'a: 1\nid: bar1\n'],
  ])('reads and searches text of the type %s', async (mime, text) => {
    const assets = createAssets()
    const { ref, mime: type } = await assets.save(Buffer.from(text), mime)
    expect(type).toBe(mime)
    const [, line] = text.split('\n')
    const page = await fetchAssetTool.execute({ ref, startLine: 2, endLine: 2 }, { assets })
    expect(page).toMatchObject({ text: line, startLine: 2 })
    const found = await searchAssetTool.execute({ ref, query: 'bar1' }, { assets })
    expect(found).toMatchObject({ hits: [{ line: 2, text: line }], total: 1 })
  })

  it('rejects a line after the last', async () => {
    const assets = createAssets()
    const { ref } = await assets.save(Buffer.from('one\ntwo'), 'text/plain')
    const table = await assets.importFile(Buffer.from('a\n1\n'), { name: 'a.csv' })
    const read = (of: string, startLine: number) =>
      fetchAssetTool.execute({ ref: of, startLine }, { assets })
    await expect(read(ref, 3)).rejects.toThrow('There is no line 3: the text has 2 lines.')
    await expect(read(`${table.table?.ref}/content/rows`, 2)).rejects.toThrow('one line')
  })

  it('rejects what does not fit into an answer, and what is not text', async () => {
    const assets = createAssets()
    const { ref } = await assets.save(new Uint8Array(9_000_000))
    await expect(fetchAssetTool.execute({ ref }, { assets })).rejects.toEqual(
      code('asset_too_large'),
    )
    await expect(fetchAssetTool.execute({ ref }, { assets })).rejects.toThrow('start and end')
    const json = await assets.save(Buffer.from(`[${'1,'.repeat(4_500_000)}1]`), 'application/json')
    await expect(fetchAssetTool.execute({ ref: json.ref }, { assets })).rejects.toThrow(
      'Read its text with startLine, read one field (asset://…/content/<key>), or find the place with search_asset.',
    )
    await expect(fetchAssetTool.execute({ ref, format: 'text' }, { assets })).rejects.toEqual(
      code('asset_unsupported'),
    )
    await expect(fetchAssetTool.execute({ ref, format: 'jpeg' }, { assets })).rejects.toEqual(
      code('invalid_arguments'),
    )
    await expect(fetchAssetTool.execute({}, { assets })).rejects.toEqual(code('invalid_arguments'))
    await expect(fetchAssetTool.execute({ ref, path: 'x' }, { assets })).rejects.toEqual(
      code('invalid_arguments'),
    )
  })
})
