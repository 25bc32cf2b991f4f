import { describe, expect, it } from 'vitest'
import { createAssets } from '../create-assets.ts'

async function imported(csv: string) {
  const assets = createAssets()
  const { table } = await assets.importFile(Buffer.from(csv), { name: 'x.csv' })
  const { columns, rows } = (await assets.resolve(table?.ref ?? '')) as {
    columns: { name: string; type: string; warning?: string }[]
    rows: Record<string, unknown>[]
  }
  return { columns, rows }
}

/** The only column of a file with these cells: its type, warning and values. */
async function column(...cells: string[]) {
  const { columns, rows } = await imported(`a|b\n${cells.map((cell) => `${cell}|x`).join('\n')}\n`)
  const [{ type, warning = null } = { type: '' }] = columns
  return { type, warning, values: rows.map(({ a }) => a) }
}

describe('importFile of a CSV with local numbers', () => {
  it.each([
    [
      ['327,80', '1.234,56', '-5'],
      [327.8, 1234.56, -5],
    ],
    [
      ['1.234.567', '12'],
      [1234567, 12],
    ],
    [
      ['1 234,5', '7'],
      [1234.5, 7],
    ],
    [
      ['1,234.56', '99'],
      [1234.56, 99],
    ],
    [
      ['1,234,567', ''],
      [1234567, null],
    ],
    [
      ["1'234.50", '7'],
      [1234.5, 7],
    ],
    [
      ['1.250', '12.5'],
      [1.25, 12.5],
    ],
    [
      ['0,125', '12'],
      [0.125, 12],
    ],
    [
      ['1.250', '640'],
      [1.25, 640],
    ],
  ])('reads %j', async (cells, values) => {
    expect(await column(...cells)).toEqual({ type: 'number', warning: null, values })
  })

  it('keeps numbers with two readings, and says so', async () => {
    const found = await column('1,234', '12')
    expect(found).toMatchObject({ type: 'string', values: ['1,234', '12'] })
    expect(found.warning).toMatch(/decimal separator or separated thousands/)
  })

  it('keeps 1.250 as text if another column has a decimal comma', async () => {
    const { columns, rows } = await imported('a;b;c\n1.250;41,5;1.1\n640;7;2\n')
    expect(columns.map(({ type }) => type)).toEqual(['string', 'number', 'number'])
    expect(rows[0]).toEqual({ a: '1.250', b: 41.5, c: 1.1 })
    expect(columns[0]?.warning).toContain('stays text')
  })

  it.each([
    ['1.250;x\n2.500;x', ['1.250', '2.500'], 'string'],
    ['640;x\n1.250.000;x\n1.250;x', [640, 1250000, 1250], 'number'],
    ['1.250;x\n12.5;x', [1.25, 12.5], 'number'],
    ['1.250;x\n0.125;x', [1.25, 0.125], 'number'],
    ['1.250;x\n1250.000;x', [1.25, 1250], 'number'],
  ])('takes a semicolon as a sign of decimal commas: %j', async (lines, values, type) => {
    const { columns, rows } = await imported(`a;b\n${lines}\n`)
    expect(columns[0]?.type).toBe(type)
    expect(columns[0]?.warning ?? null).toEqual(
      type === 'number' ? null : expect.stringMatching(/decimal separator or separated thousands/),
    )
    expect(rows.map(({ a }) => a)).toEqual(values)
  })

  it('reads the whole column again if a late cell decides', async () => {
    const cells = Array.from({ length: 30_000 }, () => '1.250')
    const { type, values } = await column(...cells, '3,5')
    expect(type).toBe('number')
    expect([values[0], values.at(-1)]).toEqual([1250, 3.5])
  })

  it.each([
    [['5 %', '12,5%'], 'percentages'],
    [['€1200', '€ 9,50'], 'currency'],
    [['12 EUR', '1.000,00 EUR'], 'currency'],
  ])('keeps %j as text, and reports why', async (cells, warning) => {
    const found = await column(...cells)
    expect(found).toMatchObject({ type: 'string', values: cells })
    expect(found.warning).toContain(warning)
  })

  it('keeps postcodes, mixed forms and plain text without a warning', async () => {
    for (const cells of [
      ['01067', '04109'],
      ['1,5', '2.5'],
      ['1,5', 'n/a'],
      ['x', 'y'],
    ]) {
      expect(await column(...cells)).toEqual({ type: 'string', warning: null, values: cells })
    }
  })
})

describe('importFile of a CSV with local dates', () => {
  it.each([
    [
      ['01.09.2023', '02.10.2023'],
      ['2023-09-01', '2023-10-02'],
    ],
    [
      ['1/9/2023', '15/9/2023'],
      ['2023-09-01', '2023-09-15'],
    ],
    [
      ['01/15/2024', '02/03/2024'],
      ['2024-01-15', '2024-02-03'],
    ],
    [
      ['01.09.2023 8:05', '31.12.2023 18:30'],
      ['2023-09-01T08:05', '2023-12-31T18:30'],
    ],
  ])('reads %j', async (cells, values) => {
    expect(await column(...cells)).toEqual({ type: 'date', warning: null, values })
  })

  it('keeps dates that can begin with the day or the month, and says so', async () => {
    const cells = ['03/04/2024', '05/06/2024']
    const found = await column(...cells)
    expect(found).toMatchObject({ type: 'string', values: cells })
    expect(found.warning).toMatch(/the day or the month/)
  })

  it('keeps a column of both, or of days that do not exist', async () => {
    for (const cells of [
      ['13/01/2024', '01/13/2024'],
      ['31.02.2024', '01.03.2024'],
    ]) {
      expect(await column(...cells)).toEqual({ type: 'string', warning: null, values: cells })
    }
  })
})
