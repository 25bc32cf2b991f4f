import { describe, expect, it } from 'vitest'
import { listRows, type TableRow } from '../src/assets/tables/table-rows.ts'
import { barChartSvg } from './bar-chart.ts'
import { chartRows } from './chart-rows.ts'

const context = { progress() {}, signal: new AbortController().signal } as never

const chart = (rows: TableRow[], input: object) =>
  chartRows.execute({ rows: listRows(rows, 'rows'), ...input } as never, context)

describe('chartRows', () => {
  it('reports how many rows are left out, and why', async () => {
    const rows = [
      { city: 'a', n: 1 },
      { city: 'a', n: null },
      { city: '', n: 2 },
      { city: 'b', n: 'n/a' },
    ]
    const { left_out, rows: shown } = await chart(rows, {
      group_by: 'city',
      value: 'n',
      measure: 'sum',
    })
    expect(left_out).toBe(
      '3 of 4 rows are left out: 1 row has no city, 1 row has no n, 1 row has a n that is not a number.',
    )
    expect(shown).toEqual([{ city: 'a', n: 1 }])
  })

  it('reports nothing if no row is left out', async () => {
    const result = await chart([{ city: 'a', n: 1 }], {
      group_by: 'city',
      value: 'n',
      measure: 'sum',
    })
    expect(result).not.toHaveProperty('left_out')
  })

  it('draws the smallest of too many groups as one bar, and keeps all of them in the summary', async () => {
    const rows = Array.from({ length: 500 }, (_, i) => ({ id: `c${i}`, n: i }))
    const input = { group_by: 'id', value: 'n' }
    const { left_out, rows: all } = await chart(rows, { ...input, measure: 'sum' })
    expect(left_out).toBe('460 smaller groups are drawn as one bar.')
    expect(all).toHaveLength(500)
    const means = await chart(rows, { ...input, measure: 'mean' })
    expect(means.left_out).toBe('460 smaller groups do not fit and are not drawn.')
  })

  it('measures only rows that match the conditions', async () => {
    const rows = [
      { city: 'a', n: 1 },
      { city: 'a', n: 5 },
      { city: 'b', n: 9 },
    ]
    const where = [{ column: 'n', is: 'above', to: 1 }]
    const { rows: shown, title } = await chart(rows, { group_by: 'city', measure: 'count', where })
    expect(shown).toEqual([
      { city: 'a', count: 1 },
      { city: 'b', count: 1 },
    ])
    expect(title).toBe('Count by city where n is above 1')
  })
})

describe('barChartSvg', () => {
  it('names the omitted rows on the picture', () => {
    const svg = barChartSvg({ title: '', valueLabel: '', bars: [], note: '3 rows are left out' })
    expect(svg).toContain('>3 rows are left out</text>')
  })
})
