import { readdir, readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { fetchAssetTool } from '../asset-tools.ts'
import { createAssets } from '../create-assets.ts'

const folder = new URL('./fixtures/pyarrow/', import.meta.url)

async function imported(name: string) {
  const bytes = await readFile(new URL(name, folder))
  expect(bytes.includes('parquet-cpp-arrow version 25')).toBe(true)
  const assets = createAssets()
  const { table } = await assets.importFile(bytes, { name })
  const content = (await assets.resolve(table?.ref ?? '')) as {
    columns: { name: string; type: string; missing: number }[]
    rows: Record<string, unknown>[]
  }
  return { assets, table, ...content }
}

const TYPES = {
  i8: 'number',
  i32: 'number',
  i64: 'number',
  big: 'integer',
  u8: 'number',
  u32: 'number',
  u64: 'integer',
  f16: 'number',
  f32: 'number',
  f64: 'number',
  odd: 'number',
  wet: 'boolean',
  text: 'string',
  large: 'string',
  city: 'string',
  bytes: 'string',
  fixed: 'string',
  day: 'date',
  day64: 'date',
  clock: 'string',
  clock64: 'string',
  ms: 'date',
  us: 'date',
  ns: 'date',
  utc: 'date',
  oslo: 'date',
  span: 'number',
  price: 'number',
  exact: 'decimal',
  wide: 'decimal',
  list: 'array',
  lists: 'array',
  pair: 'array',
  struct: 'object',
  structs: 'array',
  map: 'object',
  nothing: 'empty',
}

const ROWS: Record<string, unknown>[] = [
  {
    i8: -128,
    i32: -2147483648,
    i64: -5,
    big: -9223372036854775808n,
    u8: 0,
    u32: 0,
    u64: 0n,
    f16: 0.5,
    f32: 0.25,
    f64: 0.1,
    odd: Number.NaN,
    wet: true,
    text: '',
    large: 'a',
    city: 'Oslo',
    bytes: 'plain',
    fixed: 'AAE=',
    day: '2024-02-29',
    day64: '2024-02-29',
    clock: '23:59:59.999',
    clock64: '01:02:03.000004',
    ms: '2024-02-29T10:30:00.005',
    us: '2024-02-29T10:30:00.000001',
    ns: '2024-02-29T10:30:00.000000001',
    utc: '2024-02-29T10:30:00Z',
    oslo: '2024-02-29T10:30:00Z',
    span: 90,
    price: -1234567.89,
    exact: '1234567890123456789.05',
    wide: '12345678901234567890123456789012345678.125',
    list: [1, null, '9007199254740993'],
    lists: [['a'], [], null],
    pair: [1.5, 2.5],
    struct: { a: 1, in: { day: '2024-02-29', d: 1.5 } },
    structs: [
      { x: 1, y: ['p', 'q'] },
      { x: null, y: null },
    ],
    map: { one: 1, none: null },
    nothing: null,
  },
  Object.fromEntries(Object.keys(TYPES).map((name) => [name, null])),
  {
    i8: 127,
    i32: 2147483647,
    i64: 9007199254740991,
    big: 9007199254740993n,
    u8: 255,
    u32: 4294967295,
    u64: 18446744073709551615n,
    f16: -2,
    f32: -1.5,
    f64: 1e300,
    odd: Number.POSITIVE_INFINITY,
    wet: false,
    text: 'Zürich 🚲',
    large: 'b',
    city: 'Oslo',
    bytes: 'ö',
    fixed: '//4=',
    day: '1969-12-31',
    day64: '1969-12-31',
    clock: '00:00:00',
    clock64: '00:00:00',
    ms: '1969-12-31T00:00:00',
    us: '1969-12-31T00:00:00',
    ns: '1969-12-31T23:59:59.999999999',
    utc: '1970-01-01T00:00:00Z',
    oslo: '1970-01-01T00:00:00Z',
    span: 0,
    price: 0.01,
    exact: '-0.01',
    wide: '-1.000',
    list: [],
    lists: [['b', null]],
    pair: [0, null],
    struct: { a: null, in: null },
    structs: [],
    map: {},
    nothing: null,
  },
]

function only(names: string[], row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, row[name]]))
}

describe('a Parquet file by pyarrow as a table', () => {
  const all = Object.keys(TYPES)
  it.each([
    ['snappy-dictionary', all],
    ['gzip-row-groups', all],
    ['brotli-plain', all],
    ['zstd-pages-v2', all.filter((name) => name !== 'structs')],
    ['format-1.0', all.filter((name) => name !== 'ns')],
    ['int96', ['ms', 'us', 'ns']],
  ])('has the types and the values of %s', async (name, names) => {
    const { columns, rows, assets, table } = await imported(`${name}.parquet`)
    expect(Object.fromEntries(columns.map(({ name, type }) => [name, type]))).toEqual(
      only(names, TYPES),
    )
    expect(rows).toEqual(ROWS.map((row) => only(names, row)))
    const missing = columns.map(({ name, missing }) => [name, missing])
    expect(missing).toEqual(names.map((name) => [name, name === 'nothing' ? 3 : 1]))
    const cell = await assets.resolve(`${table?.ref}/content/rows/2/${names[0]}`)
    expect(cell).toEqual(ROWS[2]?.[names[0] as string])
  })

  it('can be read with any encoding of its numbers and texts', async () => {
    const { columns, rows, assets, table } = await imported('encodings.parquet')
    expect(columns).toEqual([
      { name: 'n', type: 'number', missing: 0 },
      { name: 'name', type: 'string', missing: 0 },
      { name: 'x', type: 'number', missing: 0 },
      { name: 'on', type: 'boolean', missing: 429 },
    ])
    expect(rows).toHaveLength(3_000)
    for (const [i, row] of rows.entries()) {
      const on = i % 7 === 0 ? null : i % 2 === 0
      expect(row).toEqual({ n: i * 3, name: `row ${i}`, x: i / 8, on })
    }
    expect(await assets.resolve(`${table?.ref}/content/rows/2345/name`)).toBe('row 2345')
  })

  it('shows numbers that JSON does not have as text', async () => {
    const { assets, table } = await imported('snappy-dictionary.parquet')
    const { text } = (await fetchAssetTool.execute({ ref: table?.ref ?? '' }, { assets })) as {
      text: string
    }
    expect(text).toContain('"odd":"NaN"')
    expect(text).toContain('"odd":"Infinity"')
  })

  it('reports an unsupported compression of its pages', async () => {
    await expect(imported('lz4.parquet')).rejects.toMatchObject({
      code: 'table_invalid',
      message: expect.stringContaining('compressed by LZ4_RAW'),
    })
  })

  it('is tested with all eight files', async () => {
    const files = (await readdir(folder)).filter((name) => name.endsWith('.parquet'))
    expect(files).toHaveLength(8)
  })
})
