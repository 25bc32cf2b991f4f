import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { fixture, pagedPdf } from '../../prompt/fixtures/bodies.ts'
import { fetchAssetTool, searchAssetTool } from '../asset-tools.ts'
import { createAssets } from '../create-assets.ts'
import { silentStore } from '../fixtures/silent-store.ts'
import { createMemoryAssetStore } from '../stores/memory.ts'
import { sheetRows, workbook } from '../tables/fixtures/spreadsheet.ts'
import { docx, linkTo, paragraph, runs, tableOf } from './fixtures/docx.ts'
import { writePages } from './write-pages.ts'

const PDF = 'application/pdf'
const assets = createAssets()
const code = (name: string, text = '') =>
  expect.objectContaining({ code: name, message: expect.stringContaining(text) })
const fetch = async (input: object) =>
  (await fetchAssetTool.execute({ ...input }, { assets })) as Record<string, unknown>

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'byref-docs-'))
})
afterAll(() => rm(folder, { recursive: true }))

describe('Assets.text', () => {
  it('returns the pages of a PDF, also of one in a field', async () => {
    const { ref } = await assets.save(pagedPdf(3), PDF)
    const text =
      '[Page 1 of 3]\nThis is page 1.\n\n[Page 2 of 3]\nThis is page 2.\n\n[Page 3 of 3]\nThis is page 3.'
    expect(await assets.text(ref)).toEqual({ text, pages: [1, 4, 7] })
    const box = await assets.saveAsset({ content_type: 'data', content: { pdf: pagedPdf(3) } })
    expect((await assets.text(`${box.ref}/content/pdf`)).text).toBe(text)
  })

  it('returns a DOCX as Markdown, with its tables', async () => {
    const nested = tableOf([[paragraph('in'), paragraph('side')]])
    const file = docx(
      paragraph('Title &amp; more', 'Heading1') +
        paragraph('A text.') +
        tableOf([
          [paragraph('City'), paragraph('Sum')],
          [paragraph('Os|lo') + paragraph('North'), nested + paragraph('3')],
        ]) +
        paragraph('The end'),
    )
    const { ref } = await assets.save(file, null, { name: 'x.docx' })
    expect((await assets.text(ref)).text).toBe(
      '# Title & more\n\nA text.\n\n| City | Sum |\n| Os\\|lo North | in side 3 |\n\nThe end',
    )
  })

  it('keeps the targets of links in a DOCX', async () => {
    const url = 'https://a.example/x?y=1&amp;z=2'
    const file = docx(
      linkTo(url, 'The plan') + linkTo(url, url) + tableOf([[linkTo(url, 'a|b'), paragraph('c')]]),
    )
    const { ref } = await assets.save(file, null)
    const target = 'https://a.example/x?y=1&z=2'
    expect((await assets.text(ref)).text).toBe(
      `[The plan](${target})\n\n${target}\n\n| [a\\|b](${target}) | c |`,
    )
  })

  it('marks superscript, subscript and struck text of a DOCX', async () => {
    const power = ['2', '<w:vertAlign w:val="superscript"/>'] as const
    const struck = ['30 days', '<w:strike/>'] as const
    const file = docx(
      runs('10', power, '3 m') +
        runs('within ', struck, ' 10 days') +
        tableOf([[runs('CO', ['2', '<w:vertAlign w:val="subscript"/>']), runs(struck)]]),
    )
    const { ref } = await assets.save(file, null)
    expect((await assets.text(ref)).text).toBe(
      '10<sup>2</sup>3 m\n\nwithin ~~30 days~~ 10 days\n\n| CO<sub>2</sub> | ~~30 days~~ |',
    )
  })

  it('keeps the columns of a DOCX table with merged cells', async () => {
    const cell = (text: string, properties = '') =>
      `<w:tcPr>${properties}</w:tcPr>${paragraph(text)}`
    const tall = '<w:vMerge w:val="restart"/>'
    const rows = [
      [cell('tall', tall), cell('wide', '<w:gridSpan w:val="2"/>'), cell('end', tall)],
      [cell('', '<w:vMerge/>'), cell('b'), cell('c'), cell('', '<w:vMerge/>')],
      [cell('1'), cell('2'), cell('3'), cell('4')],
    ]
    const { ref } = await assets.save(docx(tableOf(rows) + tableOf([[cell('next')]])), null)
    expect((await assets.text(ref)).text).toBe(
      '| tall | wide |  | end |\n|  | b | c |  |\n| 1 | 2 | 3 | 4 |\n\n| next |',
    )
  })

  it('ends after a minute if the store is silent', async () => {
    const silent = createAssets({ store: silentStore() })
    const { ref } = await silent.save(pagedPdf(1), PDF)
    const minute = new AbortController()
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(minute.signal)
    const read = silent.text(ref)
    await expect.poll(() => timeout.mock.calls.length).toBeGreaterThan(0)
    minute.abort(new DOMException('late', 'TimeoutError'))
    await expect(read).rejects.toEqual(code('asset_too_large', 'takes longer than 60 s'))
    timeout.mockRestore()
  })

  it('returns each sheet of a workbook', async () => {
    const file = workbook({
      Costs: sheetRows([
        ['city', 'n'],
        ['Oslo', 1.5],
      ]),
      Empty: sheetRows([]),
      Last: sheetRows([['only']]),
    })
    const { ref } = await assets.save(file, null, { name: 'x.xlsx' })
    expect(await assets.text(ref)).toEqual({
      text: '[Sheet 1 of 3: Costs]\ncity\tn\nOslo\t1.5\n\n[Sheet 2 of 3: Empty]\n\n[Sheet 3 of 3: Last]\nonly',
      pages: [1, 5, 7],
    })
  })

  it('returns text unchanged, and rejects other bytes', async () => {
    const note = await assets.save(Buffer.from('héllo'), 'text/plain')
    expect(await assets.text(note.ref)).toEqual({ text: 'héllo', pages: [1] })
    const data = await assets.saveAsset({ content_type: 'data', content: { a: [1] } })
    expect((await assets.text(data.ref)).text).toBe('{"a":[1]}')
    const picture = await assets.save(fixture('sharp.png'), 'image/png')
    await expect(assets.text(picture.ref)).rejects.toEqual(code('asset_unsupported', 'image/png'))
    const latin = await assets.save(Buffer.from('h\xe9llo', 'latin1'), 'text/plain')
    expect((await assets.text(latin.ref)).text).toBe('héllo')
  })

  it('reads a document once for any number of callers', async () => {
    let opened = 0
    const { store } = countedStore(() => opened++)
    const counted = createAssets({ store })
    const { ref } = await counted.save(pagedPdf(2), PDF)
    await Promise.all([counted.text(ref), counted.text(ref)])
    await counted.text(ref)
    expect(opened).toBe(1)
  })

  it('reports why a document has no text', async () => {
    const broken = await assets.save(Buffer.from('%PDF-1.4 and no more'), PDF, { name: 'x.pdf' })
    await expect(assets.text(broken.ref)).rejects.toEqual(code('asset_unsupported', 'x.pdf'))
    const blank = await assets.save(docx(paragraph(' ')), null, { name: 'y.docx' })
    await expect(assets.text(blank.ref)).rejects.toEqual(code('asset_unsupported', 'has no text'))
    const small = createAssets({ config: { limits: { valueBytes: 100 } } })
    const long = await small.save(pagedPdf(20), PDF)
    await expect(small.text(long.ref)).rejects.toEqual(code('asset_too_large', 'split it'))
    const unlimited = createAssets({ config: { limits: { valueBytes: Infinity } } })
    const { ref } = await unlimited.save(pagedPdf(20), PDF)
    expect((await unlimited.text(ref)).pages).toHaveLength(20)
  })
})

describe('writePages', () => {
  it('stops as soon as the text exceeds its limit', async () => {
    const path = join(folder, 'x.xlsx')
    await writeFile(path, workbook({ A: sheetRows([['a']]), B: sheetRows([['b']]) }))
    const file = { form: 'xlsx', name: 'x.xlsx', path } as const
    const all = await writePages({ ...file, most: 100 })
    expect(all.rows).toBe(2)
    await all.body.dispose()
    await expect(writePages({ ...file, most: 10 })).rejects.toEqual(
      code('asset_too_large', 'x.xlsx has more than 10 bytes of text: split it'),
    )
  })
})

describe('fetch_asset of a document', () => {
  it('returns whole pages, and says where to continue', async () => {
    const { ref } = await assets.save(pagedPdf(1_000), PDF)
    const first = await fetch({ ref, page: 1 })
    expect(first).toMatchObject({ assetRef: ref, page: 1, pages: 1_000, startLine: 1 })
    expect(first.text).toMatch(/This is page \d+\.$/)
    const next = await fetch({ ref, page: first.nextPage })
    expect(next.text).toMatch(new RegExp(`^\\[Page ${first.nextPage} of 1000\\]`))
    const last = await fetch({ ref, page: 1_000 })
    expect(last).toMatchObject({ text: '[Page 1000 of 1000]\nThis is page 1000.' })
    expect(last).not.toHaveProperty('nextPage')
    expect(last).not.toHaveProperty('nextStartLine')
    expect(await fetch({ ref, startLine: 5, endLine: 5 })).toMatchObject({
      text: 'This is page 2.',
      page: 2,
    })
    await expect(fetch({ ref, page: 1_001 })).rejects.toEqual(
      code('invalid_arguments', 'no page 1001: the document has 1000 pages'),
    )
  })

  it('continues by lines within a page that is too long for one answer', async () => {
    const rows = Array.from({ length: 3_000 }, (_, i) => [`row ${i}`, i])
    const file = workbook({ Long: sheetRows(rows), Short: sheetRows([['end']]) })
    const { ref } = await assets.save(file, null, { name: 'x.xlsx' })
    let part = await fetch({ ref, page: 1 })
    const lines: string[] = String(part.text).split('\n')
    while (part.nextStartLine !== undefined) {
      part = await fetch({ ref, startLine: part.nextStartLine })
      lines.push(...String(part.text).split('\n'))
    }
    expect(lines.slice(0, 3_001)).toEqual([
      '[Sheet 1 of 2: Long]',
      ...rows.map((row) => row.join('\t')),
    ])
    expect(lines.at(-1)).toBe('end')
  })

  it('accepts pages only for documents', async () => {
    const { ref } = await assets.save(Buffer.from('a text'), 'text/plain')
    await expect(fetch({ ref, page: 1 })).rejects.toEqual(code('invalid_arguments', 'startLine'))
  })
})

describe('search_asset of a document', () => {
  it('returns the page of each match', async () => {
    const { ref } = await assets.save(pagedPdf(30), PDF)
    const found = await searchAssetTool.execute({ ref, query: 'page 29.' }, { assets })
    expect(found).toEqual({
      assetRef: ref,
      hits: [{ line: 86, column: 9, page: 29, text: 'This is page 29.' }],
      total: 1,
    })
  })
})

/** A store whose opened bodies are counted. */
function countedStore(count: () => void) {
  const inner = createMemoryAssetStore()
  const store = Object.assign(Object.create(inner) as typeof inner, {
    open: (...args: Parameters<typeof inner.open>) => {
      count()
      return inner.open(...args)
    },
  })
  return { store }
}
