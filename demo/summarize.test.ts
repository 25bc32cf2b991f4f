import { describe, expect, it } from 'vitest'
import { listRows } from '../src/assets/tables/table-rows.ts'
import { summarize } from './summarize.ts'

const rows = listRows(
  [
    { day: '2026-01-31', rain: 0.1, town: 'b' },
    { day: '2026-01-01', rain: 0.2, town: 'a' },
    { day: '2026-02-01', rain: null, town: 'a' },
    { day: '2026-02-02', rain: 5, town: 'a' },
    { day: '', rain: 7, town: '' },
  ],
  'the rows',
)

describe('summarize', () => {
  it('groups dates by an interval, in order', async () => {
    const summary = await summarize(rows, {
      groupBy: 'day',
      interval: 'month',
      value: 'rain',
      measure: 'sum',
    })
    expect(summary).toEqual({
      rows: [
        { month: '2026-01', rain: 0.3 },
        { month: '2026-02', rain: 5 },
      ],
      groupColumn: 'month',
      valueColumn: 'rain',
      of: 5,
      skipped: 2,
      reasons: ['1 row has no day', '1 row has no rain'],
    })
  })

  it.each([
    ['mean', 2.6],
    ['max', 5],
    ['min', 0.2],
    ['sum', 5.2],
    ['count', 3],
  ] as const)('measures the %s of a group', async (measure, expected) => {
    const summary = await summarize(rows, { groupBy: 'town', value: 'rain', measure })
    expect(summary.rows.find((row) => row.town === 'a')?.[summary.valueColumn]).toBe(expected)
  })

  it('orders groups of numbers as numbers', async () => {
    const many = [10, 9, 100].map((n) => ({ n, v: 1 }))
    const summary = await summarize(listRows(many, 'many'), {
      groupBy: 'n',
      value: 'v',
      measure: 'sum',
    })
    expect(summary.rows.map((row) => row.n)).toEqual([9, 10, 100])
  })

  it('names the existing columns', async () => {
    await expect(
      summarize(rows, { groupBy: 'month', value: 'rain', measure: 'sum' }),
    ).rejects.toThrow('There is no column "month"; the 3 columns are day, rain, town')
  })

  it('rejects text as a measure, and text as a date', async () => {
    await expect(
      summarize(rows, { groupBy: 'day', value: 'town', measure: 'sum' }),
    ).rejects.toThrow('The column "town" holds "a", which is not a number')
    await expect(
      summarize(rows, { groupBy: 'town', interval: 'year', value: 'rain', measure: 'sum' }),
    ).rejects.toThrow('which is no date')
    await expect(summarize(rows, { groupBy: 'town', measure: 'sum' })).rejects.toThrow(
      'needs a "value"',
    )
    await expect(
      summarize(listRows([], 'none'), { groupBy: 'town', measure: 'count' }),
    ).rejects.toThrow('no rows')
  })
})
