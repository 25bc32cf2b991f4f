import { readFile } from 'node:fs/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { errorMessage } from '../../core/errors.ts'
import { createAssets } from '../create-assets.ts'
import { silentStore } from '../fixtures/silent-store.ts'
import { createMemoryAssetStore } from '../stores/memory.ts'
import { TableError } from './table-error.ts'
import { PARQUET_TYPE } from './table-facts.ts'

const data = new URL('../../../node_modules/vega-datasets/data/', import.meta.url)
const vega = (name: string) => readFile(new URL(name, data))

interface TableContent {
  columns: { name: string; type: string; missing: number }[]
  rows: Record<string, unknown>[]
  source: string
}

async function importText(text: string | Uint8Array, name = 'x.csv', mime?: string) {
  const assets = createAssets()
  const body = typeof text === 'string' ? Buffer.from(text) : text
  const { asset, table } = await assets.importFile(body, { name, mime })
  const content = table ? ((await assets.resolve(table.ref)) as TableContent) : null
  return { assets, asset, table, content }
}

async function failure(text: string, name = 'x.csv'): Promise<TableError> {
  const failed = await importText(text, name).catch((error: unknown) => error)
  expect(failed).toBeInstanceOf(TableError)
  return failed as TableError
}

describe('importFile', () => {
  it('reads a real CSV: numbers, dates and text by column', async () => {
    const csv = await vega('seattle-weather.csv')
    const { content, asset, table, assets } = await importText(csv, 'seattle-weather.csv')
    expect(content?.columns.map(({ name, type }) => [name, type])).toEqual([
      ['date', 'date'],
      ['precipitation', 'number'],
      ['temp_max', 'number'],
      ['temp_min', 'number'],
      ['wind', 'number'],
      ['weather', 'string'],
    ])
    expect(content?.rows).toHaveLength(1461)
    expect(content?.rows[0]).toEqual({
      date: '2012-01-01',
      precipitation: 0,
      temp_max: 12.8,
      temp_min: 5,
      wind: 4.7,
      weather: 'drizzle',
    })
    expect(content?.source).toBe(asset.ref)
    expect(table).toMatchObject({ structured: true, name: 'seattle-weather.csv', kind: 'file' })
    const meta = await assets.meta(table?.ref ?? '')
    expect(JSON.stringify(meta)).toContain('1461')
    expect(JSON.stringify(meta).length).toBeLessThan(20_000)
    expect((await assets.get(asset.ref)).bytes.byteLength).toBe(csv.byteLength)
  })

  it.each([
    ['by DuckDB', 'city'],
    ['record by record', '"two\nlines"'],
  ])('leaves nothing if it is aborted while the file is read %s', async (_, cell) => {
    const assets = createAssets()
    const rows = Array.from({ length: 500_000 }, (_, n) => `${n},${cell}`).join('\n')
    const controller = new AbortController()
    const made = assets.importFile(Buffer.from(`n,name\n${rows}`), {
      name: 'x.csv',
      signal: controller.signal,
      onProgress: () => controller.abort(new Error('never mind')),
    })
    await expect(made).rejects.toThrow('never mind')
    expect(await assets.usage()).toMatchObject({ assets: 0 })
  })

  it.each(['x.csv', 'x.parquet'])(
    'ends if it is aborted while the store is silent: %s',
    async (name) => {
      const store = silentStore()
      const controller = new AbortController()
      const { signal } = controller
      const made = createAssets({ store }).importFile(Buffer.from('PAR1'), {
        name,
        mime: name.endsWith('csv') ? 'text/csv' : PARQUET_TYPE,
        signal,
      })
      setTimeout(() => controller.abort(new Error('never mind')), 100)
      await expect(made).rejects.toThrow('never mind')
      expect(await store.usage()).toMatchObject({ assets: 0 })
    },
    5_000,
  )

  it('reads JSON rows: missing cells are null, columns in order of appearance', async () => {
    const { content } = await importText(await vega('cars.json'), 'cars.json')
    expect(content?.columns.find(({ name }) => name === 'Horsepower')).toEqual({
      name: 'Horsepower',
      type: 'number',
      missing: 6,
    })
    expect(content?.columns.find(({ name }) => name === 'Year')?.type).toBe('date')
    const mixed = await importText('[{"a":1,"b":"x"},{"b":null,"c":{"d":1}},{"a":"2"}]', 'x.json')
    expect(mixed.content?.columns).toEqual([
      { name: 'a', type: 'mixed', missing: 1 },
      { name: 'b', type: 'string', missing: 2 },
      { name: 'c', type: 'object', missing: 2 },
    ])
    expect(mixed.content?.rows[1]).toEqual({ a: null, b: null, c: { d: 1 } })
  })

  it('reads NDJSON and TSV', async () => {
    const { content } = await importText('{"a":1}\n\n{"a":2}\r\n{"a":3}', 'x.ndjson')
    expect(content?.rows).toEqual([{ a: 1 }, { a: 2 }, { a: 3 }])
    const tsv = await importText('size\tnote\n5" pipe\ta, b\n', 'x.tsv')
    expect(tsv.content?.rows).toEqual([{ size: '5" pipe', note: 'a, b' }])
    const named = await importText('a\tb\n1\t2\n', 'x', 'text/tab-separated-values')
    expect(named.content?.rows).toEqual([{ a: 1, b: 2 }])
  })

  it('makes no table of other JSON, or of a picture', async () => {
    const long = '[12345678901234567890, 12345678901234567891]'
    for (const json of ['{"a":1}', '[]', '[1,2]', long, '[{"a":1},2]', '"x"', '[[1]]']) {
      expect((await importText(json, 'x.json')).table).toBe(null)
    }
    expect((await importText('[1]\n[2]\n', 'x.ndjson')).table).toBe(null)
    expect(
      (await importText('12345678901234567890\n12345678901234567891\n', 'x.ndjson')).table,
    ).toBe(null)
    expect((await importText(new Uint8Array([0x89, 0x50, 0x4e, 0x47]), 'x.png')).table).toBe(null)
  })

  it.each([
    ['numbers', '1,-2.5,+3,.5,1e3', [1, -2.5, 3, 0.5, 1000]],
    ['numbers with spaces', ' 1, 2 ', [1, 2]],
    ['text with a zero in front', '007,1', ['007', '1']],
    ['numbers too long to be exact', '12345678901234567890,1', ['12345678901234567890', '1']],
    ['booleans', 'true,FALSE,True', [true, false, true]],
    ['dates', '2024-02-29,2023-01-05', ['2024-02-29', '2023-01-05']],
    ['dates with slashes', '2024/2/9,2023/12/31', ['2024-02-09', '2023-12-31']],
    [
      'times',
      '2024-02-29 10:00:00,2024-02-29T10:00Z',
      ['2024-02-29T10:00:00', '2024-02-29T10:00Z'],
    ],
    ['named dates', 'Jan 1 2000,"Mar 31, 2001"', ['2000-01-01', '2001-03-31']],
    [
      'names that only begin like months',
      '"Decision 12 2020","Marathon 5 2021"',
      ['Decision 12 2020', 'Marathon 5 2021'],
    ],
    [
      'full and short months',
      '"September 1, 2001",Sept. 2 2001,May 3 2001',
      ['2001-09-01', '2001-09-02', '2001-05-03'],
    ],
    ['digits that a double would lose', '0.1234567890123456789,1', ['0.1234567890123456789', '1']],
    ['a fraction of a long number', '123456789012345678.5,1', ['123456789012345678.5', '1']],
    ['what is too small for a double', '1e-400,1', ['1e-400', '1']],
    ['what is too large for a double', '1e400,1', ['1e400', '1']],
    [
      'what a double wrote',
      '0.30000000000000004,1e21,-1.7976931348623157e308,0.0',
      [0.30000000000000004, 1e21, -1.7976931348623157e308, 0],
    ],
    ['days that do not exist', '2023-02-29,2023-01-01', ['2023-02-29', '2023-01-01']],
    ['ambiguous dates', '1/2/2024,3/4/2024', ['1/2/2024', '3/4/2024']],
    ['mixed', '1,x', ['1', 'x']],
    ['empty cells', '1,,3', [1, null, 3]],
    ['nothing', ',,', [null, null, null]],
    ['infinities', 'Infinity,1', ['Infinity', '1']],
  ])('reads %s', async (_, line, values) => {
    const cells = line.match(/"[^"]*"|[^,]+|(?<=,)(?=,)|^(?=,)|(?<=,)$/g) ?? []
    // A second column, so that an empty cell is not an empty line.
    const csv = `a,b\n${cells.map((cell) => `${cell},x`).join('\n')}\n`
    const { content } = await importText(csv)
    expect(content?.rows.map((row) => row.a)).toEqual(values)
  })

  it('keeps invalid dates as text', async () => {
    const { content } = await importText('a,b\n2023-02-29,2023-02-28\n')
    expect(content?.columns.map(({ type }) => type)).toEqual(['string', 'date'])
  })

  it('finds the separator, even next to quotes', async () => {
    expect((await importText('a;b\n"1,5;";2\n')).content?.rows).toEqual([{ a: '1,5;', b: 2 }])
    expect((await importText('a|b\n1|2\n')).content?.rows).toEqual([{ a: 1, b: 2 }])
    expect((await importText('"a,b"\n1\n')).content?.rows).toEqual([{ 'a,b': 1 }])
  })

  it('reads UTF-8 that ends in the middle of a character', async () => {
    const whole = Buffer.from('name,n\nMüller,1\nZoë')
    const cut = whole.subarray(0, -1)
    const { content } = await importText(cut)
    expect(content?.rows.map(({ name }) => name)).toEqual(['Müller', 'Zo\ufffd'])
    const latin = Buffer.from('n,name\n1,Zo\xeb', 'latin1')
    expect((await importText(latin)).content?.rows).toEqual([{ n: 1, name: 'Zoë' }])
  })

  it('reads files of other programs', async () => {
    expect((await importText('\ufeffa,b\r\n1,"x\r\ny"\r\n')).content?.rows).toEqual([
      { a: 1, b: 'x\r\ny' },
    ])
    const utf16 = Buffer.from('\ufeffa,b\n1,ö\n', 'utf16le')
    expect((await importText(utf16, 'x.csv', 'text/csv')).content?.rows).toEqual([{ a: 1, b: 'ö' }])
    const windows = Buffer.from('name,n\nM\xfcller,1\n', 'latin1')
    expect((await importText(windows, 'x.csv')).content?.rows).toEqual([{ name: 'Müller', n: 1 }])
    expect((await importText('a,a,,b\n1,2,3,4\n')).content?.rows).toEqual([
      { a: 1, a_2: 2, column_3: 3, b: 4 },
    ])
    expect((await importText('a,b\n\n1,2\n\n\n')).content?.rows).toHaveLength(1)
    expect((await importText('a,b\n')).content).toMatchObject({
      columns: [
        { name: 'a', type: 'string', missing: 0 },
        { name: 'b', type: 'string', missing: 0 },
      ],
      rows: [],
    })
  })

  it('detects the encoding from the whole file', async () => {
    const padding = 'x,1\n'.repeat(50_000)
    const latin = Buffer.from(`name,n\n${padding}M\xfcller,2\n`, 'latin1')
    expect((await importText(latin)).content?.rows.at(-1)).toEqual({ name: 'Müller', n: 2 })
    const controlled = Buffer.from(`name,n\nM\u00fcller\u0001,1\n${padding}`)
    expect((await importText(controlled, 'x.csv', 'text/csv')).content?.rows[0]?.name).toBe(
      'Müller\u0001',
    )
  })

  it('handles hostile headers and rows', async () => {
    const { content } = await importText(`${'a,'.repeat(4_999)}a\n`)
    expect(content?.columns.at(-1)?.name).toBe('a_5000')
    expect((await failure(`${'a,'.repeat(200_000)}a\n`)).message).toMatch(
      /200,001 columns.*at most 5,000.*as rows/,
    )
    const rows = Array.from({ length: 3_000 }, (_, i) => `{"k${i}":1}`).join('\n')
    expect((await failure(rows, 'x.ndjson')).reason).toMatch(/too few keys in common/)
  })

  it('keeps a small meta of a table of any width', async () => {
    const width = 2_000
    const line = Array.from({ length: width }, (_, i) => i).join(',')
    const csv = `${line.replace(/\d+/g, 'c$&')}\n${`${line}\n`.repeat(200)}`
    const { assets, table } = await importText(csv)
    const meta = await assets.meta(table?.ref ?? '')
    const { rows, columns } = meta.content as { rows: unknown[]; columns: unknown[] }
    expect([rows.length, rows.at(-1)]).toEqual([6, '<cut from 200 items>'])
    expect(columns.at(-1)).toBe('<cut from 2000 items>')
    expect(JSON.stringify(meta).length).toBeLessThan(300_000)
  })

  it('closes every file that it opens', async () => {
    let open = 0
    const store = createMemoryAssetStore()
    const counted: typeof store = {
      ...store,
      async open(assetId, options) {
        const opened = await store.open(assetId, options)
        if (!opened) return null
        open++
        const reader = opened.stream.getReader()
        const stream = new ReadableStream<Uint8Array>(
          {
            async pull(controller) {
              const { value, done } = await reader.read()
              if (value) return controller.enqueue(value)
              if (done) open--
              controller.close()
            },
            async cancel() {
              open--
              await reader.cancel()
            },
          },
          { highWaterMark: 0 },
        )
        return { ...opened, stream }
      },
    }
    const assets = createAssets({ store: counted })
    for (const [name, text] of [
      ['x.json', '{"a":1}'],
      ['x.json', '[1]'],
      ['x.json', '[{"a":1}]'],
      ['x.json', '[{"a":1},'],
      ['x.csv', 'a,b\n1,2\n'],
      ['x.csv', 'a,b\n"1\n'],
      ['x.ndjson', '{"a":1}\n[]\n'],
    ] as const) {
      await assets.importFile(Buffer.from(text), { name }).catch(() => {})
      expect([name, text, open]).toEqual([name, text, 0])
    }
  })

  it('detects separator and encoding even if the first bytes arrive one by one', async () => {
    const assets = createAssets()
    for (const [text, name] of [
      ['\ufeffa;b\n1;ö\n', 'x.csv'],
      ['[{"a":1,"b":"ö"}]', 'x.json'],
      ['{"a":1,"b":"ö"}\n{"a":1,"b":"ö"}', 'x.ndjson'],
    ] as const) {
      const bytes = Buffer.from(text)
      const body = ReadableStream.from([...bytes].map((byte) => Uint8Array.of(byte)))
      const { table } = await assets.importFile(body as ReadableStream<Uint8Array>, { name })
      expect(await assets.resolve(`${table?.ref}/content/rows/0`)).toEqual({ a: 1, b: 'ö' })
    }
  })

  it('reads lists of any JSON values after rows, parsed as JSON.parse does', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), { minLength: 1 }),
        async (rows) => {
          const { content } = await importText(JSON.stringify(rows), 'x.json')
          const [first] = JSON.parse(JSON.stringify(rows))
          for (const key of Object.keys(first)) {
            if (content?.columns.find(({ name }) => name === key)?.type === 'date') continue
            expect(content?.rows[0]?.[key] ?? null).toEqual(first[key])
          }
        },
      ),
      { numRuns: 100 },
    )
  })

  it('accepts any header, even names of prototype properties', async () => {
    const json = await importText('[{"__proto__":{"x":1},"constructor":2}]', 'x.json')
    expect(Object.keys(json.content?.rows[0] ?? {})).toEqual(['__proto__', 'constructor'])
    const { content } = await importText('__proto__,constructor\n1,2\n')
    expect(Object.keys(content?.rows[0] ?? {})).toEqual(['__proto__', 'constructor'])
  })

  it('names the line and the reason of a broken table, and keeps the file', async () => {
    const cases: [string, string, number, RegExp][] = [
      ['a,b\n1,"2\n3,4\n', 'x.csv', 2, /never closed/],
      ['', 'x.csv', 1, /empty/],
      ['[{"a":1},\n{"a":}]', 'x.json', 2, /"}\]" is unexpected/],
      ['[{"a":1},\n{"a":2}', 'x.json', 2, /ends too early/],
      ['[{"a":1}]\nx', 'x.json', 2, /"x" is unexpected/],
      ['[{"a":"x\ny"}]', 'x.json', 1, /"x\\ny\\"}\]" is unexpected/],
      [`[{"a":${'['.repeat(2000)}`, 'x.json', 1, /1000 levels/],
      ['{"a":1}\n{"a":\n', 'x.ndjson', 2, /not valid JSON/],
      [`{"a":1}\n{"a":${'['.repeat(5000)}${']'.repeat(5000)}}\n`, 'x.ndjson', 2, /1000 levels/],
      ['{"a":1}\n[1]\n', 'x.ndjson', 2, /not a JSON object/],
    ]
    for (const [text, name, line, reason] of cases) {
      const error = await failure(text, name)
      expect(error.code).toBe('table_invalid')
      expect(error.reason).toMatch(reason)
      expect(error.line).toBe(line)
      expect(error.message).toContain(name)
      expect(error.asset).toMatchObject({ size: Buffer.byteLength(text), name })
    }
  })

  it.each([
    ['x.json', '[{"a":1},\n{"a":2}]'],
    ['x.ndjson', '{"a":1}\n{"a":2}\n'],
    ['x.csv', 'a,b\n1,2\n3,4\n5,6\n'],
  ])('blames the store, not the file, when a read of %s breaks', async (name, text) => {
    let failures = 0
    // The file is opened several times; each time, one import loses the connection.
    for (let sound = 0; failures === sound; sound++) {
      const store = createMemoryAssetStore()
      const { open } = store
      let opened = 0
      store.open = async (id, options) => {
        const found = await open(id, options)
        if (!found || opened++ < sound) return found
        async function* cut() {
          yield Buffer.from(text.slice(0, 12))
          throw new Error('connection lost')
        }
        return { ...found, stream: ReadableStream.from(cut()) }
      }
      const imported = createAssets({ store }).importFile(Buffer.from(text), { name })
      const error = await imported.then(
        () => null,
        (thrown: unknown) => thrown,
      )
      if (opened <= sound) break
      failures++
      expect(error).not.toBeInstanceOf(TableError)
      expect(errorMessage(error)).toContain('connection lost')
    }
    expect(failures).toBeGreaterThan(1)
  })

  it('reads rows of a table that exceeds its cache', async () => {
    const limits = { cacheBytes: 1000 }
    const assets = createAssets({ store: createMemoryAssetStore(), config: { limits } })
    const csv = `a,b\n${'1,2\n'.repeat(5000)}`
    const { table } = await assets.importFile(Buffer.from(csv), { name: 'x.csv' })
    expect(await assets.resolve(`${table?.ref}/content/rows/4999`)).toEqual({ a: 1, b: 2 })
  })

  it('reads large files that must be parsed twice', async () => {
    const rows = Array.from({ length: 300_000 }, (_, i) => `${i},text ${i},2024-01-0${(i % 9) + 1}`)
    const csv = Buffer.from(`n,t,d\n${rows.join('\n')}\n`)
    expect(csv.byteLength).toBeGreaterThan(8 * 1024 * 1024)
    const { content } = await importText(csv)
    expect(content?.rows).toHaveLength(300_000)
    expect(content?.rows[299_999]).toEqual({ n: 299_999, t: 'text 299999', d: '2024-01-03' })
    expect(content?.columns.map(({ type }) => type)).toEqual(['number', 'string', 'date'])
  })

  it('restores every text that is written by the rules of CSV', async () => {
    const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', ' ', 'é', ';', '\t') })
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 8 }),
        async (rows) => {
          const quoted = rows.map((row) => row.map((text) => `"${text.replace(/"/g, '""')}"`))
          const csv = `"name","x"\n${quoted.map((row) => row.join(',')).join('\n')}\n`
          const { content } = await importText(csv)
          expect(content?.rows.map((row) => [row.name ?? '', row.x ?? ''])).toEqual(
            rows.map((row) => row.map((text) => (text.trim() === '' ? '' : text))),
          )
        },
      ),
      { numRuns: 100 },
    )
  })
})
