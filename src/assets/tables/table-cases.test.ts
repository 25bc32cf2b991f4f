import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { parquetMetadata, type SchemaElement } from 'hyparquet'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { describe, expect, it } from 'vitest'
import { fetchAssetTool, searchAssetTool } from '../asset-tools.ts'
import { createAssets } from '../create-assets.ts'
import { createMemoryAssetStore } from '../stores/memory.ts'
import type { TextPage } from '../text-page.ts'
import { MESSY, SPECTRUM } from './fixtures/csv-cases.ts'

async function imported(text: string | Uint8Array, name = 'x.csv') {
  const assets = createAssets()
  const body = typeof text === 'string' ? Buffer.from(text) : text
  const { table, asset } = await assets.importFile(body, { name })
  const ref = table?.ref ?? ''
  const content = (await assets.resolve(ref)) as {
    columns: { name: string; type: string; missing: number; scale?: number }[]
    rows: Record<string, unknown>[]
  }
  return { assets, asset, ref, table, ...content }
}

describe('a table of csv-spectrum', () => {
  it.each(SPECTRUM)('%s', async (_, csv, rows) => {
    expect((await imported(csv)).rows).toEqual(rows)
  })
})

describe('a table from real programs', () => {
  it.each(MESSY)('%s', async (_, csv, rows) => {
    expect((await imported(csv)).rows).toEqual(rows)
  })

  it('has columns for cells of late rows beyond the header', async () => {
    const lines = Array.from({ length: 25_000 }, (_, i) => `${i},x`)
    lines.push('1,y,late')
    const { columns, rows } = await imported(`a,b\n${lines.join('\n')}\n`)
    expect(columns.map(({ name, missing }) => [name, missing])).toEqual([
      ['a', 0],
      ['b', 0],
      ['column_3', 25_000],
    ])
    expect(rows.at(-1)).toEqual({ a: 1, b: 'y', column_3: 'late' })
  })

  it('is rejected if one row has too many cells', async () => {
    const csv = `a,b\n${'1,2\n'.repeat(20_000)}${'x,'.repeat(500)}\n`
    await expect(imported(csv)).rejects.toThrow(/far longer than the others/)
    await expect(imported(`a,b\n${'x,'.repeat(6_000)}x\n`)).rejects.toThrow(/at most 5,000/)
  })

  it('is rejected if a row has more than 64 MB', async () => {
    const assets = createAssets({ config: { duckdb: false } })
    const failure = (csv: string) => assets.importFile(Buffer.from(csv), { name: 'x.csv' })
    const cells = `${'x'.repeat(9_999)},`.repeat(6_800)
    await expect(failure(cells)).rejects.toThrow(/line 1: it has more than 6,\d+ columns/)
    await expect(failure('x'.repeat(68e6))).rejects.toThrow(/line 1: a row has more than 64 MB/)
  })

  it.each(['\n', '\r\n', '\r'])('has a header of more than 64 KiB: %j', async (end) => {
    const header = `a,${'b'.repeat(70_000)}`
    const { rows } = await imported(`${header}${end}1,2${end}3,4${end}`)
    expect(rows.map(({ a }) => a)).toEqual([1, 3])
  })
})

describe('numbers of a table', () => {
  it('keeps 64-bit integers as bigints, and longer ones as text', async () => {
    const { columns, rows, assets, ref } = await imported(
      'a,b,c,d\n9007199254740993,9223372036854775808,9007199254740992,-0\n1,1,1,1\n',
    )
    expect(columns.map(({ type }) => type)).toEqual(['integer', 'decimal', 'number', 'number'])
    expect(rows[0]).toEqual({
      a: 9007199254740993n,
      b: '9223372036854775808',
      c: 9007199254740992,
      d: -0,
    })
    expect(await assets.resolve(`${ref}/content/rows/0/a`)).toBe(9007199254740993n)
    const { bytes } = await assets.get(`${ref}/content/rows/0/a`)
    expect(Buffer.from(bytes).toString()).toBe('9007199254740993')
  })

  it('does not round numbers of JSON and NDJSON', async () => {
    const list =
      '{"id":1234567890123456789,"x":1e400,"y":0.1234567890123456789,"in":{"n":1234567890123456789}}'
    const more = '{"id":2,"x":1,"y":2,"in":{"n":1}}'
    for (const [text, name] of [
      [`[${list},${more}]`, 'x.json'],
      [`${list}\n${more}\n`, 'x.ndjson'],
    ] as const) {
      const { columns, rows } = await imported(text, name)
      expect(columns).toEqual([
        { name: 'id', type: 'integer', missing: 0 },
        { name: 'x', type: 'mixed', missing: 0 },
        { name: 'y', type: 'decimal', missing: 0, scale: 19 },
        { name: 'in', type: 'object', missing: 0 },
      ])
      expect(rows).toEqual([
        {
          id: 1234567890123456789n,
          x: '1e400',
          y: '0.1234567890123456789',
          in: { n: '1234567890123456789' },
        },
        { id: 2n, x: 1, y: '2', in: { n: 1 } },
      ])
    }
  })

  it('prints every double as it was read', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.double({ noNaN: true }).filter(Number.isFinite), { minLength: 1 }),
        async (numbers) => {
          const { rows } = await imported(JSON.stringify(numbers.map((n) => ({ n }))), 'x.json')
          expect(rows.map(({ n }) => n)).toEqual(numbers.map((n) => (Object.is(n, -0) ? 0 : n)))
        },
      ),
      { numRuns: 50 },
    )
  })
})

describe('the Parquet file of a table', () => {
  /** The declared type of each column that has one other than text. */
  async function declared(text: string) {
    const { assets, ref, rows, columns } = await imported(text)
    const { bytes } = await assets.get(ref)
    const { schema } = parquetMetadata(new Uint8Array(bytes).buffer)
    const typed = schema.flatMap(({ name, logical_type: type }) =>
      type && type.type !== 'STRING' ? [[name, type]] : [],
    )
    return { types: Object.fromEntries(typed), rows, columns, assets, bytes }
  }

  const time = (isAdjustedToUTC: boolean) => ({
    type: 'TIMESTAMP',
    isAdjustedToUTC,
    unit: 'MICROS',
  })
  const decimal = { type: 'DECIMAL', precision: 38, scale: 2 }

  it('has times and decimals that other programs can compute with', async () => {
    const { types, rows, columns, assets, bytes } = await declared(
      'at,utc,amount\n1969-12-31 23:59:59.999999,2024-02-29T10:00:00Z,-0.05\n' +
        '2024-02-29T10:00:00.5,0000-01-01 00:00:00Z,123456789012345678901234567890123456.10\n,,\n',
    )
    expect(types).toEqual({ at: time(false), utc: time(true), amount: decimal })
    expect(rows).toEqual([
      { at: '1969-12-31T23:59:59.999999', utc: '2024-02-29T10:00:00Z', amount: '-0.05' },
      {
        at: '2024-02-29T10:00:00.5',
        utc: '0000-01-01T00:00:00Z',
        amount: '123456789012345678901234567890123456.10',
      },
      { at: null, utc: null, amount: null },
    ])
    const { table } = await assets.importFile(bytes, { name: 'again.parquet' })
    const again = (await assets.resolve(table?.ref ?? '')) as object
    expect(again).toMatchObject({ columns, rows })
  })

  it.each([
    ['a time without seconds', '2024-01-01T10:00', '1.00'],
    ['zeros behind a time', '2024-01-01T10:00:00.50', '01.00'],
    ['nanoseconds', '2024-01-01T10:00:00.000000001', '.50'],
    ['a zone', '2024-01-01T10:00:00+00:00', '-0.00'],
    ['a time in UTC', '2024-01-01T10:00:00Z', '1.0'],
    ['a day', '2024-01-01', '1'],
    ['the end of a day', '2024-01-01T24:00:00', '+1.00'],
  ])('has text where a late cell is written in another way: %s', async (_, at, amount) => {
    const long = '12345678901234567.25'
    const lines = `2024-01-01T10:00:00,${long}\n`.repeat(21_000)
    const { types, rows } = await declared(`at,amount\n${lines}${at},${amount}\n`)
    expect(types).toEqual(amount === '1.00' ? { amount: decimal } : {})
    expect(rows[0]).toEqual({ at: '2024-01-01T10:00:00', amount: long })
    expect(rows.at(-1)).toEqual({ at, amount })
  })

  it('has the times and decimals of JSON', async () => {
    const long = '{"at":"2024-01-01T10:00:00.25Z","amount":12345678901234567.25}'
    const { bytes } = await imported(`[${long}]`, 'x.json').then(({ assets, ref }) =>
      assets.get(ref),
    )
    const { rows } = await imported(bytes, 'x.parquet')
    expect(rows).toEqual([{ at: '2024-01-01T10:00:00.25Z', amount: '12345678901234567.25' }])
  })
})

describe('a table of odd shape', () => {
  it('changes its types if later rows need it', async () => {
    const lines = Array.from({ length: 30_000 }, (_, i) => `${i},${i},2024-01-01`)
    const { columns, rows } = await imported(`a,b,c\n${lines.join('\n')}\n1.5,x,2024-01-01T10:00\n`)
    expect(columns.map(({ type }) => type)).toEqual(['number', 'string', 'date'])
    expect([rows[29_999], rows[30_000]]).toEqual([
      { a: 29_999, b: '29999', c: '2024-01-01' },
      { a: 1.5, b: 'x', c: '2024-01-01T10:00' },
    ])
  })

  it.each([
    ['2024-01-01 10:00', 'unknown', '2024-01-01 10:00', 'string'],
    ['123456789012345678901234567890', ' x ', '123456789012345678901234567890', 'string'],
    ['', ' x ', null, 'string'],
    ['', '2024-01-01 10:00', null, 'date'],
  ])('keeps the cells of a column of %j that ends with %j', async (first, last, kept, type) => {
    const csv = `a,b\n${`1,${first}\n`.repeat(21_000)}2,${last}\n`
    const { columns, rows } = await imported(csv)
    expect(columns[1]?.type).toBe(type)
    const stored = type === 'date' ? '2024-01-01T10:00' : last
    expect([rows[0]?.b, rows.at(-1)?.b]).toEqual([kept, stored])
  })

  it.each([
    ['"2024-01-01 10:00"', '"unknown"', '2024-01-01 10:00', 'unknown'],
    ['null', '123456789012345678901.5', null, '123456789012345678901.5'],
    ['null', '"2024-01-01 10:00"', null, '2024-01-01T10:00'],
  ])('keeps the values of a column of %s that ends with %s', async (first, last, kept, stored) => {
    const json = `${`{"a":1,"b":${first}}\n`.repeat(21_000)}{"a":2,"b":${last}}`
    const { rows } = await imported(json, 'x.ndjson')
    expect([rows[0]?.b, rows.at(-1)?.b]).toEqual([kept, stored])
  })

  it('has columns that only later rows have', async () => {
    const lines = Array.from({ length: 25_000 }, (_, i) =>
      JSON.stringify({ a: i, ...(i > 24_000 && { b: [i] }) }),
    )
    const { columns, rows } = await imported(lines.join('\n'), 'x.ndjson')
    expect(columns).toEqual([
      { name: 'a', type: 'number', missing: 0 },
      { name: 'b', type: 'array', missing: 24_001 },
    ])
    expect(rows.at(-1)).toEqual({ a: 24_999, b: [24_999] })
  })

  it('keeps names that differ in case, empty names, and names of prototype properties', async () => {
    const json = await imported('[{"":1,"a":2,"A":3,"__proto__":4,"toString":5," ":6}]', 'x.json')
    expect(Object.entries(json.rows[0] ?? {})).toEqual([
      ['', 1],
      ['a', 2],
      ['A', 3],
      ['__proto__', 4],
      ['toString', 5],
      [' ', 6],
    ])
    expect(await json.assets.resolve(`${json.ref}/content/rows/0/__proto__`)).toBe(4)
    expect(await json.assets.resolve(`${json.ref}/content/rows/0//`)).toBe(1)
    await expect(json.assets.resolve(`${json.ref}/content/rows/0/valueOf`)).rejects.toThrow(
      /has no "valueOf"; it has 6/,
    )
  })

  it('supports a column of 50 MB of text', async () => {
    const text = 'lorem ipsum '.repeat(1_000_000)
    const csv = `n,t\n1,"${text}"\n2,"${text}"\n3,"${text}"\n4,"${text}"\n5,x\n`
    const assets = createAssets()
    const { table } = await assets.importFile(Buffer.from(csv), { name: 'x.csv' })
    expect(await assets.resolve(`${table?.ref}/content/rows/3/t`)).toHaveLength(text.length)
    expect(await assets.resolve(`${table?.ref}/content/rows/4`)).toEqual({ n: 5, t: 'x' })
  })

  it('supports up to 5,000 columns', async () => {
    const line = Array.from({ length: 5_000 }, (_, i) => i).join(',')
    const assets = createAssets()
    const csv = Buffer.from(`${line.replace(/\d+/g, 'c$&')}\n${line}\n`)
    const { table } = await assets.importFile(csv, { name: 'x.csv' })
    expect(await assets.resolve(`${table?.ref}/content/rows/0/c4999`)).toBe(4999)
    expect(
      Object.keys((await assets.resolve(`${table?.ref}/content/rows/0`)) as object),
    ).toHaveLength(5_000)
  })
})

describe('reading a table', () => {
  it('reads ranges of the body, and nothing for a meta', async () => {
    const store = createMemoryAssetStore()
    let bytes = 0
    const counted: typeof store = {
      ...store,
      async open(assetId, options) {
        const opened = await store.open(assetId, options)
        bytes += opened ? opened.end - opened.start : 0
        return opened
      },
    }
    const assets = createAssets({ store: counted })
    const lines = Array.from({ length: 200_000 }, (_, i) => `${(i * 7919) % 1_000_003},city ${i}`)
    const { table } = await assets.importFile(Buffer.from(`n,city\n${lines.join('\n')}\n`), {
      name: 'x.csv',
    })
    const ref = table?.ref ?? ''
    const cost = async (read: () => Promise<unknown>) => {
      bytes = 0
      const value = await read()
      return [value, bytes / (table?.size ?? 1)] as const
    }
    await assets.resolve(`${ref}/content/rows/0`)
    const [row, ofRow] = await cost(() => assets.resolve(`${ref}/content/rows/150000`))
    expect(row).toEqual({ n: (150_000 * 7919) % 1_000_003, city: 'city 150000' })
    expect(ofRow).toBeLessThan(0.25)
    const [cell, ofCell] = await cost(() => assets.resolve(`${ref}/content/rows/199999/city`))
    expect(cell).toBe('city 199999')
    expect(ofCell).toBeLessThan(ofRow)
    const page = async () => {
      const cities: unknown[] = []
      const rows = (await assets.rows(ref)).select({ columns: ['city'], start: 7, end: 107 })
      for await (const { city } of rows) cities.push(city)
      return cities
    }
    const [cities, ofPage] = await cost(page)
    expect([(cities as string[]).length, (cities as string[])[99]]).toEqual([100, 'city 106'])
    expect(ofPage).toBeLessThan(0.25)
    expect((await cost(() => assets.meta(ref)))[1]).toBe(0)
    expect((await cost(() => assets.info(ref)))[1]).toBe(0)
  })

  it('pages by rows within a row that is longer than a page, and splits no character', async () => {
    const { assets, ref, rows } = await imported(`ab\n${'😀'.repeat(20_000)}\n`)
    let text = ''
    let next: Partial<TextPage> = {}
    do {
      const input = { ref, startLine: next.nextStartLine, startColumn: next.nextStartColumn }
      next = (await fetchAssetTool.execute({ ...input, format: 'text' }, { assets })) as TextPage
      expect(String(next.text).isWellFormed()).toBe(true)
      text += next.text
    } while (next.nextStartLine !== undefined)
    expect(JSON.parse(text)).toEqual(rows[0])
  })

  it('reports what to do if it is too large for one value', async () => {
    const assets = createAssets({ config: { limits: { valueBytes: 10_000 } } })
    const csv = `a\n${'1\n'.repeat(5_000)}`
    const { table } = await assets.importFile(Buffer.from(csv), { name: 'x.csv' })
    const all = assets.resolve(`${table?.ref}/content/rows`)
    await expect(all).rejects.toMatchObject({ code: 'asset_too_large' })
    await expect(all).rejects.toThrow(/5,000 rows.*asset_ref_as: "rows".*query_tables/)
    await expect(assets.resolve(`${table?.ref}/content/rows/5000`)).rejects.toThrow(
      /has no 5000; it is a list of 5000, from 0\./,
    )
    await expect(assets.resolve(`${table?.ref}/content/rows/0/b`)).rejects.toThrow(/it has 1: "a"/)
    await expect(assets.resolve(`${table?.ref}/content/cells`)).rejects.toThrow(/"columns"/)
  })

  it('pages by rows and searches cells', async () => {
    const lines = Array.from({ length: 2_000 }, (_, i) => `${i},name ${i}`)
    const { assets, ref } = await imported(`n,name\n${lines.join('\n')}\n`)
    const page = await fetchAssetTool.execute({ ref, startLine: 1001, endLine: 1002 }, { assets })
    expect(page).toMatchObject({
      text: '{"n":1000,"name":"name 1000"}\n{"n":1001,"name":"name 1001"}',
      startLine: 1001,
      endLine: 1002,
      lines: 2000,
    })
    const first = (await fetchAssetTool.execute({ ref }, { assets })) as Record<string, number>
    expect(first.nextStartLine).toBe((first.endLine ?? 0) + 1)
    const found = await searchAssetTool.execute({ ref, query: 'name 1777' }, { assets })
    expect(found).toMatchObject({
      hits: [{ ref: `${ref}/content/rows/1777/name`, text: 'name 1777' }],
      total: 1,
    })
  })
})

describe('a Parquet file as a table', () => {
  async function byDuckdb(sql: string): Promise<Uint8Array> {
    const { DuckDBInstance } = await import('@duckdb/node-api')
    const folder = await mkdtemp(join(tmpdir(), 'byref-test-'))
    const path = join(folder, 'x.parquet')
    const connection = await (await DuckDBInstance.create(':memory:')).connect()
    await connection.run(`copy (${sql}) to '${path}' (format parquet, codec 'zstd')`)
    const bytes = await readFile(path)
    await rm(folder, { recursive: true })
    return new Uint8Array(bytes)
  }

  it('has the types that the file declares', async () => {
    const { columns, rows, asset, table } = await imported(
      await byDuckdb(`select range as n, range + 9007199254740993 as big, 1.50::decimal(10,2) as price,
        123456789012345678.25::decimal(30,2) as exact, date '2024-02-29' as day, timestamp '2024-02-29 10:00:00.000001' as at,
        'x' as text, range % 2 = 0 as even, if(range = 1, null, 0.5) as half, [1, 2] as list, {'a': 1} as object,
        '{"b":2}'::json as json, null::varchar as none from range(3)`),
      'x.parquet',
    )
    expect(columns.map(({ name, type }) => [name, type])).toEqual([
      ['n', 'number'],
      ['big', 'integer'],
      ['price', 'number'],
      ['exact', 'decimal'],
      ['day', 'date'],
      ['at', 'date'],
      ['text', 'string'],
      ['even', 'boolean'],
      ['half', 'number'],
      ['list', 'array'],
      ['object', 'object'],
      ['json', 'mixed'],
      ['none', 'empty'],
    ])
    expect(rows[1]).toEqual({
      n: 1,
      big: 9007199254740994n,
      price: 1.5,
      exact: '123456789012345678.25',
      day: '2024-02-29',
      at: '2024-02-29T10:00:00.000001',
      text: 'x',
      even: false,
      half: null,
      list: [1, 2],
      object: { a: 1 },
      json: { b: 2 },
      none: null,
    })
    expect(columns.find(({ name }) => name === 'half')?.missing).toBe(1)
    expect(table?.digest).toBe(asset.digest)
  })

  it('converts the values inside of lists and objects like those of columns', async () => {
    const { rows } = await imported(
      await byDuckdb(`select [19.99, null, 0.30]::decimal(10,2)[] as prices,
        {'sum': 123456789012345678.25::decimal(30,2), 'at': [timestamptz '2024-02-29 10:00:00+00']} as sale,
        map {'opens': time '08:30:00'} as hours, [[1.1::decimal(5,1)], []] as deep`),
      'x.parquet',
    )
    expect(rows).toEqual([
      {
        prices: [19.99, null, 0.3],
        sale: { sum: '123456789012345678.25', at: ['2024-02-29T10:00:00Z'] },
        hours: { opens: '08:30:00' },
        deep: [[1.1], []],
      },
    ])
  })

  it('keeps decimals of bytes of any length, next to text that is declared as bytes', async () => {
    const schema = [
      { name: 'root', num_children: 2 },
      {
        name: 'd',
        type: 'BYTE_ARRAY',
        converted_type: 'DECIMAL',
        scale: 2,
        precision: 20,
        repetition_type: 'OPTIONAL',
      },
      { name: 't', type: 'BYTE_ARRAY', repetition_type: 'OPTIONAL' },
    ] satisfies SchemaElement[]
    const columnData = [
      { name: 'd', data: [2.56, -0.01, null] },
      {
        name: 't',
        data: [Buffer.from('ö'), null, Buffer.from('x')].map((b) => b && Uint8Array.from(b)),
      },
    ]
    const { rows } = await imported(
      new Uint8Array(parquetWriteBuffer({ columnData, schema })),
      'x.parquet',
    )
    expect(rows).toEqual([
      { d: '2.56', t: 'ö' },
      { d: '-0.01', t: null },
      { d: null, t: 'x' },
    ])
  })

  it('has bytes that are not text as base64, also inside of values', async () => {
    const { rows, assets, ref } = await imported(
      await byDuckdb(`select 'caf\\xC3\\xA9'::blob as text, '\\xFF\\x00'::blob as bytes,
        ['\\xFF'::blob, 'a'::blob] as list, {'file': '\\xFF'::blob} as object, map {'k'::blob: 1} as map`),
      'x.parquet',
    )
    expect(rows).toEqual([
      { text: 'café', bytes: '/wA=', list: ['/w==', 'a'], object: { file: '/w==' }, map: { k: 1 } },
    ])
    const { ref: edited } = await assets.edit(ref, [{ sql: 'select * from rows' }])
    expect(await assets.resolve(`${edited}/content/rows`)).toEqual(rows)
  })

  it('keeps the digits of numbers in JSON', async () => {
    const { rows } = await imported(
      await byDuckdb(`select '{"id":9007199254740993,"n":1.5}'::json as json`),
      'x.parquet',
    )
    expect(rows).toEqual([{ json: { id: '9007199254740993', n: 1.5 } }])
  })

  it('is rejected with the type of a column that cannot be read', async () => {
    const bytes = await byDuckdb("select 1 as n, interval '1 day' as span")
    await expect(imported(bytes, 'x.parquet')).rejects.toMatchObject({
      code: 'table_invalid',
      message: expect.stringContaining('a column of the type interval'),
    })
  })

  it('is rejected if it is damaged, at any byte, and never hangs', async () => {
    const whole = await byDuckdb("select range as n, 'text ' || range as t from range(2000)")
    const outcome = async (bytes: Uint8Array) => {
      const assets = createAssets()
      try {
        const { table } = await assets.importFile(bytes, {
          name: 'x.parquet',
          mime: 'application/vnd.apache.parquet',
        })
        return table ? 'table' : 'file'
      } catch (error) {
        return (error as { code: string }).code
      }
    }
    expect(await outcome(whole)).toBe('table')
    expect(await outcome(whole.slice(0, -100))).toBe('table_invalid')
    expect(await outcome(Buffer.from('PAR1PAR1'))).toBe('table_invalid')
    for (let i = 0; i < 60; i++) {
      const bytes = whole.slice()
      const at = Math.floor((bytes.byteLength * i) / 60)
      bytes[at] = (bytes[at] as number) ^ 0x55
      expect(['table', 'table_invalid', 'file']).toContain(await outcome(bytes))
    }
  })
})
