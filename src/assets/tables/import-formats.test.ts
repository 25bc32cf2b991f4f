import { readFile } from 'node:fs/promises'
import * as arrow from 'apache-arrow'
import { describe, expect, it } from 'vitest'
import { ByrefError } from '../../core/errors.ts'
import { createAssets } from '../create-assets.ts'
import { createMemoryAssetStore } from '../stores/memory.ts'
import { sheetRows, workbook } from './fixtures/spreadsheet.ts'

async function imported(bytes: Uint8Array, name: string, mime?: string) {
  const assets = createAssets()
  const { table } = await assets.importFile(bytes, { name, mime })
  const ref = table?.ref ?? ''
  const content = (await assets.resolve(ref)) as {
    columns: { name: string; type: string; missing: number }[]
    rows: Record<string, unknown>[]
  }
  return { ...content, types: content.columns.map(({ name, type }) => [name, type]) }
}

function arrowTable(): arrow.Table {
  const { vectorFromArray: vector } = arrow
  const decimals = [123456789012345678n, -150n, 0n].map((value) => {
    return new Uint32Array(
      new BigUint64Array([BigInt.asUintN(64, value), value < 0n ? ~0n : 0n]).buffer,
    )
  })
  return new arrow.Table({
    n: vector([1, 2, null], new arrow.Int32()),
    big: vector([9007199254740993n, null, 1n], new arrow.Int64()),
    half: vector([0.5, 1e300, -0.1], new arrow.Float64()),
    exact: vector(decimals, new arrow.Decimal(2, 30)),
    text: vector(['a', null, 'ö'], new arrow.Utf8()),
    city: vector(
      ['Oslo', 'Bonn', 'Oslo'],
      new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32()),
    ),
    wet: vector([true, false, null], new arrow.Bool()),
    day: vector([new Date('2024-02-29'), null, new Date('1969-12-31')], new arrow.DateDay()),
    at: vector([0.001, 1_500, null], new arrow.TimestampMicrosecond()),
    utc: vector([0, null, 1_000], new arrow.TimestampSecond('UTC')),
    list: vector([[1], [2, 3], null], new arrow.List(new arrow.Field('x', new arrow.Int32()))),
    object: vector(
      [{ a: 1n, b: 'x' }, null, { a: 9007199254740993n, b: null }],
      new arrow.Struct([
        new arrow.Field('a', new arrow.Int64()),
        new arrow.Field('b', new arrow.Utf8()),
      ]),
    ),
  })
}

describe('an Arrow file as a table', () => {
  it.each([
    ['file', 'x.arrow', undefined],
    ['stream', 'x.arrows', undefined],
    ['stream', 'x', 'application/vnd.apache.arrow.stream'],
  ] as const)('keeps every value of a %s (%s)', async (kind, name, mime) => {
    const { types, rows } = await imported(arrow.tableToIPC(arrowTable(), kind), name, mime)
    expect(Object.fromEntries(types)).toEqual({
      n: 'number',
      big: 'integer',
      half: 'number',
      exact: 'decimal',
      text: 'string',
      city: 'string',
      wet: 'boolean',
      day: 'date',
      at: 'date',
      utc: 'date',
      list: 'array',
      object: 'object',
    })
    expect(rows).toEqual([
      {
        n: 1,
        big: 9007199254740993n,
        half: 0.5,
        exact: '1234567890123456.78',
        text: 'a',
        city: 'Oslo',
        wet: true,
        day: '2024-02-29',
        at: '1970-01-01T00:00:00.000001',
        utc: '1970-01-01T00:00:00Z',
        list: [1],
        object: { a: 1, b: 'x' },
      },
      {
        n: 2,
        big: null,
        half: 1e300,
        exact: '-1.50',
        text: null,
        city: 'Bonn',
        wet: false,
        day: null,
        at: '1970-01-01T00:00:01.5',
        utc: null,
        list: [2, 3],
        object: null,
      },
      {
        n: null,
        big: 1n,
        half: -0.1,
        exact: '0.00',
        text: 'ö',
        city: 'Oslo',
        wet: null,
        day: '1969-12-31',
        at: null,
        utc: '1970-01-01T00:00:01Z',
        list: null,
        object: { a: '9007199254740993', b: null },
      },
    ])
  })

  const [micro, milli] = [new arrow.TimeMicrosecond(), new arrow.TimeMillisecond()]

  it.each([
    ['whole numbers of 64 bits', [1n, null, 3n], new arrow.Int64(), 'number', [1, null, 3]],
    ['microseconds of a day', [43_200_000_000n, null], micro, 'string', ['12:00:00', null]],
    ['milliseconds of a day', [1_500], milli, 'string', ['00:00:01.5']],
  ] as const)('keeps %s', async (_, values, type, expected, cells) => {
    const table = new arrow.Table({ x: arrow.vectorFromArray(values, type) })
    const { types, rows } = await imported(arrow.tableToIPC(table, 'file'), 'x.arrow')
    expect(types).toEqual([['x', expected]])
    expect(rows.map(({ x }) => x)).toEqual(cells)
  })

  it('keeps decimals of few digits', async () => {
    const decimals = (values: number[], scale: number) => {
      const words = values.map((value) => new Uint32Array([value, 0, 0, 0]))
      return arrow.vectorFromArray(words, new arrow.Decimal(scale, 10))
    }
    const table = new arrow.Table({
      price: decimals([150, 7], 2),
      count: decimals([3, 4_000_000_000], 0),
    })
    const { types, rows } = await imported(arrow.tableToIPC(table, 'file'), 'x.arrow')
    expect(types).toEqual([
      ['price', 'number'],
      ['count', 'number'],
    ])
    expect(rows).toEqual([
      { price: 1.5, count: 3 },
      { price: 0.07, count: 4_000_000_000 },
    ])
  })

  it('keeps decimals and times in lists, objects and dictionaries', async () => {
    const { vectorFromArray: vector, Field } = arrow
    const day = new Date('2024-02-29')
    const decimal = new Uint32Array([150, 0, 0, 0])
    const money = new arrow.Decimal(2, 30)
    const struct = new arrow.Struct([
      new Field('sum', money),
      new Field('days', new arrow.List(new Field('day', new arrow.DateDay()))),
    ])
    const entry = new arrow.Struct([new Field('key', new arrow.Utf8()), new Field('value', money)])
    const entries = new Field('entries', entry as never)
    const table = new arrow.Table({
      sums: vector([[decimal, null], null, []], new arrow.List(new Field('x', money))),
      cost: vector([{ sum: decimal, days: [day] }, { sum: null, days: null }, null], struct),
      map: vector([new Map([['x', decimal]]), null, new Map()], new arrow.Map_(entries)),
      day: vector([null, day, day], new arrow.Dictionary(new arrow.DateDay(), new arrow.Int32())),
    })
    const { types, rows } = await imported(arrow.tableToIPC(table, 'file'), 'x.arrow')
    expect(Object.fromEntries(types)).toEqual({
      sums: 'array',
      cost: 'object',
      map: 'object',
      day: 'date',
    })
    expect(rows).toEqual([
      {
        sums: ['1.50', null],
        cost: { sum: '1.50', days: ['2024-02-29'] },
        map: { x: '1.50' },
        day: null,
      },
      { sums: null, cost: { sum: null, days: null }, map: null, day: '2024-02-29' },
      { sums: [], cost: null, map: {}, day: '2024-02-29' },
    ])
  })

  it('reads many batches, and rejects damaged files', async () => {
    const batches = [1, 2, 3].flatMap((part) => {
      return arrow.tableFromArrays({ n: Float64Array.from({ length: 2_500 }, (_, i) => part + i) })
        .batches
    })
    const bytes = arrow.tableToIPC(new arrow.Table(batches), 'file')
    const { rows } = await imported(bytes, 'x.arrow')
    expect([rows.length, rows[2_500], rows.at(-1)]).toEqual([7_500, { n: 2 }, { n: 2_502 }])
    for (const broken of [bytes.slice(0, 40), bytes.slice(0, -20), bytes.fill(7, 100, 200)]) {
      await expect(imported(broken, 'x.arrow')).rejects.toMatchObject({ code: 'table_invalid' })
    }
  })
})

describe('a spreadsheet as a table', () => {
  const fixture = (path: string) => readFile(new URL(path, import.meta.url))

  it('has the rows of its first sheet', async () => {
    const { types, rows } = await imported(await fixture('./fixtures/trips.xlsx'), 'trips.xlsx')
    expect(types).toEqual([
      ['city', 'string'],
      ['day', 'date'],
      ['at', 'date'],
      ['n', 'number'],
      ['code', 'string'],
      ['wet', 'boolean'],
      ['city_2', 'string'],
      ['column_8', 'string'],
    ])
    expect(rows).toEqual([
      {
        city: 'Oslo',
        day: '2024-02-29',
        at: '2024-02-29T10:30:00',
        n: 1.5,
        code: '007',
        wet: true,
        city_2: 'x',
        column_8: null,
      },
      {
        city: 'Zürich <1>',
        day: '2024-03-01',
        at: null,
        n: -2,
        code: '12',
        wet: false,
        city_2: null,
        column_8: 'extra',
      },
    ])
  })

  it('has no value for a number that is too large for a date', async () => {
    const dates = [45_351, 1_700_000_000].map((value, i) => {
      return Buffer.from(`<row r="${i + 2}"><c r="A${i + 2}" s="1"><v>${value}</v></c></row>`)
    })
    const sheet = Buffer.concat([sheetRows([['day']]), ...dates])
    const { rows } = await imported(workbook({ S: sheet }), 'x.xlsx')
    expect(rows).toEqual([{ day: '2024-02-29' }, { day: null }])
  })

  it('has every time of a day to the second', async () => {
    const minutes = Array.from({ length: 24 * 60 }, (_, i) => i)
    const times = minutes.map((minute, i) => {
      const value = 45_351 + minute / (24 * 60)
      return Buffer.from(`<row r="${i + 2}"><c r="A${i + 2}" s="1"><v>${value}</v></c></row>`)
    })
    const sheet = Buffer.concat([sheetRows([['at']]), ...times])
    const { rows } = await imported(workbook({ S: sheet }), 'x.xlsx')
    const expected = minutes.map((minute) => {
      const time = new Date(Date.UTC(2024, 1, 29, 0, minute)).toISOString()
      return { at: minute === 0 ? '2024-02-29' : time.slice(0, 19) }
    })
    expect(rows).toEqual(expected)
  })

  it('has the time of a cell that is only a time of day, or a duration', async () => {
    const times = [0, 0.354166666666667, 0.999988425925926, 1, 1.14583333333333, 60.5].map(
      (value, i) => {
        return Buffer.from(`<row r="${i + 2}"><c r="A${i + 2}" s="1"><v>${value}</v></c></row>`)
      },
    )
    const sheet = Buffer.concat([sheetRows([['opens']]), ...times])
    const { types, rows } = await imported(workbook({ S: sheet }), 'x.xlsx')
    expect(types).toEqual([['opens', 'string']])
    expect(rows.map(({ opens }) => opens)).toEqual([
      ...['00:00:00', '08:30:00', '23:59:59', '24:00:00', '27:30:00', '1452:00:00'],
    ])
  })

  it('has texts with their spaces, and no value for a text of spaces', async () => {
    const cells = [[' name '], ['  indented'], [' '], ['ends ']]
    const { rows } = await imported(workbook({ S: sheetRows(cells) }), 'x.xlsx')
    expect(rows).toEqual([{ name: '  indented' }, { name: 'ends ' }])
  })

  it.each([2, 3])('leaves nothing if it is aborted with asset %d', async (last) => {
    const controller = new AbortController()
    let saved = 0
    const onEvent = (): void => {
      if (++saved === last) controller.abort(new Error('never mind'))
    }
    const assets = createAssets({ onEvent })
    const sheets = { A: sheetRows([['a'], [1]]), B: sheetRows([['b'], [2]]) }
    const { signal } = controller
    const made = assets.importFile(workbook(sheets), { name: 'x.xlsx', signal })
    await expect(made).rejects.toThrow('never mind')
    expect(await assets.usage()).toMatchObject({ assets: 0 })
  })

  it.each([2, 3, 4])('leaves nothing if the store has no space for asset %i', async (nth) => {
    const store = createMemoryAssetStore()
    let saved = 0
    const save: typeof store.save = (...given) => {
      if (++saved < nth) return store.save(...given)
      throw new ByrefError('storage_full', 'The disk is full')
    }
    const assets = createAssets({ store: { ...store, save } })
    const sheets = { A: sheetRows([['a'], [1]]), B: sheetRows([['b'], [2]]) }
    const made = assets.importFile(workbook(sheets), { name: 'x.xlsx' })
    await expect(made).rejects.toMatchObject({ code: 'storage_full' })
    expect([saved, await assets.usage()]).toMatchObject([nth, { assets: 0 }])
  })

  it('keeps tables of an earlier import if the store has no space for more', async () => {
    const store = createMemoryAssetStore()
    let left = Infinity
    const save: typeof store.save = (...given) => {
      if (left-- > 0) return store.save(...given)
      throw new ByrefError('storage_full', 'The disk is full')
    }
    const assets = createAssets({ store: { ...store, save } })
    const sheets = { A: sheetRows([['a'], [1]]), B: sheetRows([['b'], [2]]) }
    const options = { name: 'x.xlsx', assetId: 'book' }
    const { asset, table } = await assets.importFile(workbook(sheets), options)
    await assets.delete(asset.ref)
    left = 2
    const again = assets.importFile(workbook(sheets), options)
    await expect(again).rejects.toMatchObject({ code: 'storage_full' })
    expect(await assets.info(String(table?.ref))).toMatchObject({ ref: table?.ref })
  })

  it('is rejected if it is damaged', async () => {
    const bytes = await fixture('./fixtures/trips.xlsx')
    await expect(imported(bytes.fill(0, 300, 900), 'x.xlsx')).rejects.toMatchObject({
      code: 'table_invalid',
    })
  })
})

describe('the Parquet body of a table', () => {
  it('has the same rows when it is imported', async () => {
    const rows = [
      { object: { a: [1] }, list: ['x', null], mixed: 'text', n: 1 },
      { object: null, list: [], mixed: 1.5, n: null },
      { object: {}, list: null, mixed: { a: 'x' }, n: 2 },
    ]
    const assets = createAssets()
    const { table } = await assets.importFile(Buffer.from(JSON.stringify(rows)), { name: 'x.json' })
    const { bytes } = await assets.get(table?.ref ?? '')
    expect((await imported(bytes, 'x.parquet')).rows).toEqual(rows)
  })
})
