import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createAssets } from '../create-assets.ts'
import { readCsvTable } from './csv-table.ts'
import { WORTH_BYTES } from './duckdb.ts'
import { writeByDuckdb } from './duckdb-csv.ts'
import { MESSY, SPECTRUM } from './fixtures/csv-cases.ts'
import { openParquet } from './parquet-file.ts'
import { spoolOf } from './spool.ts'
import { fileRows } from './table-rows.ts'
import { RESULT } from './table-task.ts'
import { type WrittenTable, writeTable } from './write-table.ts'

/** More rows than a group of a Parquet file has. */
const ROWS = 21_000

/** Makes the file large enough for DuckDB. */
const LONG = 'lorem ipsum '.repeat(18)

/** A file with many rows, large enough for DuckDB if its texts are long. `odd` is a late line. */
function csv({ odd = '', text = LONG } = {}): Buffer {
  const lines = Array.from({ length: ROWS }, (_, i) => {
    const day = `2024-0${(i % 9) + 1}-1${i % 10}`
    return `${i},${day},"Oslo, ${text} ""${i % 7}""",${(i % 97) / 10},${i % 3 === 0 ? '' : i % 2 === 0},0${i % 50}`
  })
  lines.splice(ROWS - 10, 0, ...(odd === '' ? [] : [odd]))
  return Buffer.from(`n,day,city,rain,wet,code\n${lines.join('\n')}\n`)
}

/** The columns and some rows, for each way of making a table. */
async function bothWays(file: Buffer) {
  const ways = [true, false].map(async (duckdb) => {
    const assets = createAssets({ config: { duckdb } })
    const { table } = await assets.importFile(file, { name: 'x.csv' })
    const ref = table?.ref ?? ''
    const rows: unknown[] = []
    const all = await assets.rows(ref)
    for (const start of [0, ROWS / 2, all.count - 12]) {
      for await (const row of all.select({ start, end: start + 12 })) rows.push(row)
    }
    return { count: all.count, columns: all.columns, rows }
  })
  return Promise.all(ways)
}

describe('importFile of a large CSV', () => {
  it('makes the same table with and without DuckDB', async () => {
    const [fast, slow] = await bothWays(csv())
    expect(fast?.columns.map(({ type, missing }) => [type, missing])).toEqual([
      ['number', 0],
      ['date', 0],
      ['string', 0],
      ['number', 0],
      ['boolean', ROWS / 3],
      ['string', 0],
    ])
    expect(fast?.rows[1]).toEqual({
      n: 1,
      day: '2024-02-11',
      city: `Oslo, ${LONG} "1"`,
      rain: 0.1,
      wet: false,
      code: '01',
    })
    expect(fast).toEqual(slow)
  })

  it('makes the same table if DuckDB leaves it to the parser', async () => {
    const odd = '1,2024-01-01,x,0.1234567890123456789,true,1'
    const [fast, slow] = await bothWays(csv({ odd }))
    expect(fast?.count).toBe(ROWS + 1)
    expect(fast).toEqual(slow)
  })

  it('recognizes times, and columns that start empty', async () => {
    const lines = Array.from({ length: ROWS }, (_, i) => {
      const late = i < ROWS - 5 ? ',,,' : `${i},\u2003,,`
      return `2024-01-31 1${i % 10}:00:0${i % 10}.5,${late}${LONG} ${i}`
    })
    const [fast, slow] = await bothWays(Buffer.from(`at,n,blank,none,t\n${lines.join('\n')}\n`))
    expect(fast?.columns.map(({ type }) => type)).toEqual([
      ...['date', 'number', 'empty', 'empty', 'string'],
    ])
    expect(fast?.rows.at(-1)).toEqual({
      at: '2024-01-31T19:00:09.5',
      n: ROWS - 1,
      blank: null,
      none: null,
      t: `${LONG} ${ROWS - 1}`,
    })
    expect(fast).toEqual(slow)
  })

  it('accepts Windows line endings', async () => {
    const windows = Buffer.from(csv().toString().replaceAll('\n', '\r\n'))
    const [fast, slow] = await bothWays(windows)
    expect(fast?.count).toBe(ROWS)
    expect(fast).toEqual(slow)
  })

  it('reports its progress', async () => {
    const told: number[] = []
    const file = csv()
    const { table } = await createAssets().importFile(new Blob([file]), {
      name: 'x.csv',
      onProgress: ({ bytes, size }) => told.push(bytes / size),
    })
    expect(table?.table?.rows).toBe(ROWS)
    expect(told).toEqual(told.toSorted((a, b) => a - b))
    expect(told.at(-1)).toBe(1)
  })

  it('names the line of an unclosed quote', async () => {
    const assets = createAssets()
    const file = Buffer.concat([csv(), Buffer.from('1,"2\n')])
    await expect(assets.importFile(file, { name: 'x.csv' })).rejects.toMatchObject({
      code: 'table_invalid',
      line: ROWS + 2,
    })
  })
})

describe('writeByDuckdb', () => {
  /** Small files that are treated as large; their rows from `start` on. */
  async function bothWrite(csv: string, start = 0) {
    const open = async () => new Blob([csv]).stream()
    const about = { name: 'x.csv', size: WORTH_BYTES }
    const folder = await mkdtemp(join(tmpdir(), 'byref-'))
    const path = join(folder, 'x.csv')
    await writeFile(path, csv)
    const found = await writeByDuckdb({ ...about, type: 'csv', folder, path }, () => {})
    const fast = found && { ...found, body: await spoolOf(join(folder, RESULT), async () => {}) }
    const slow = await writeTable(readCsvTable({ ...about, open, encoding: 'utf-8' }, 'csv'))
    const both = await Promise.all([fast, slow].map((one) => one && valuesOf(one, start)))
    await rm(folder, { recursive: true, force: true })
    return both
  }

  async function valuesOf({ body, columns, rows: count }: WrittenTable, start: number) {
    const rows: unknown[] = []
    const open = () => openParquet(body, { name: 'x' })
    const all = fileRows(open, columns, { count })
    for await (const row of all.select({ start })) rows.push(row)
    const times = (await open()).columns.map(({ element: { logical_type: type } }) =>
      type?.type === 'TIMESTAMP' ? type : null,
    )
    await body.dispose()
    return { columns, rows, count, times }
  }

  it.each([...SPECTRUM, ...MESSY])('makes the same table of %s, or none', async (_, csv, rows) => {
    const [fast, slow] = await bothWrite(csv)
    if (fast) expect(fast).toEqual(slow)
    expect(slow?.rows).toEqual(rows)
  })

  it.each([
    ['a fraction among whole numbers', '1.5,2024-01-01,x,1,true,1'],
    ['a text among numbers', 'x,2024-01-01,x,1,true,1'],
    ['digits that a double would lose', '1,2024-01-01,x,0.1234567890123456789,true,1'],
    ['a number that is no number', '1,2024-01-01,x,nan,true,1'],
    ['a day that does not exist', '1,2023-02-29,x,1,true,1'],
    ['a bare quote', '1,2024-01-01,5" pipe,1,true,1'],
    ['a long whole number', '3000000000,2024-01-01,x,1,true,1'],
    ['a whole number that a double would round', '9007199254740993,2024-01-01,x,1,true,1'],
    ['a time among days', '1,2024-01-01 10:00:00,x,1,true,1'],
    ['numbers in other ways', '1e2,2024-01-01,x,+1.5,TRUE,1'],
    ['empty cells', ',,,,,'],
    ['too few cells', '1,2024-01-01'],
    ['too many cells', '1,2024-01-01,x,1,true,1,,more'],
    ['lines in a text', '1,2024-01-01,"a\nb",1,true,1'],
  ])('makes the same table of many rows and %s, or none', async (_, odd) => {
    const [fast, slow] = await bothWrite(csv({ odd, text: '' }).toString(), ROWS - 20)
    expect(slow?.count).toBe(ROWS + 1)
    if (fast) expect(fast).toEqual(slow)
  })

  it('leaves 1.250 in a file with semicolons to the parser', async () => {
    const late = `a;b\n${'640;x\n'.repeat(1_000)}1.250;y\n`
    const [fast, slow] = await bothWrite(late)
    expect(fast).toBe(null)
    expect(slow?.columns[0]).toMatchObject({
      type: 'string',
      warning: expect.stringContaining('stays text'),
    })
  })

  it.each([
    ['too few cells', '1,2024-01-01'],
    ['too few cells and an empty line', '1,2024-01-01\n\n2'],
    ['too few cells, the last of which changes its type', '1,2024-0'],
  ])('makes the same table of many rows and %s', async (_, odd) => {
    const [fast, slow] = await bothWrite(csv({ odd, text: '' }).toString(), ROWS - 20)
    expect(fast).toEqual(slow)
  })

  it.each([
    'empty',
    'empty, crlf',
    'escaped quotes',
    'quotes and newlines',
    'days and times',
    'a line that states the separator',
    'a separator stated after a byte order mark',
  ])('makes a table of %s', async (name) => {
    const [, csv = ''] = [...SPECTRUM, ...MESSY].find(([one]) => one === name) ?? []
    expect((await bothWrite(csv))[0]).not.toBe(null)
  })
})
