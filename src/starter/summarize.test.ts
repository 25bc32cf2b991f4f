import { describe, expect, it } from 'vitest'
import { summarize } from './summarize.ts'

const rows = [
  { day: '2026-01-31', rain: 0.1, town: 'b' },
  { day: '2026-01-01', rain: 0.2, town: 'a' },
  { day: '2026-02-01', rain: null, town: 'a' },
  { day: '2026-02-02', rain: 5, town: 'a' },
  { day: '', rain: 7, town: '' },
]

describe('summarize', () => {
  it('groups dates by an interval, in order', () => {
    const summary = summarize(rows, {
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
      skipped: 2,
    })
  })

  it.each([
    ['mean', 2.6],
    ['max', 5],
    ['min', 0.2],
    ['sum', 5.2],
    ['count', 3],
  ] as const)('measures the %s of a group', (measure, expected) => {
    const summary = summarize(rows, { groupBy: 'town', value: 'rain', measure })
    expect(summary.rows.find((row) => row.town === 'a')?.[summary.valueColumn]).toBe(expected)
  })

  it('orders groups of numbers as numbers', () => {
    const many = [10, 9, 100].map((n) => ({ n, v: 1 }))
    const summary = summarize(many, { groupBy: 'n', value: 'v', measure: 'sum' })
    expect(summary.rows.map((row) => row.n)).toEqual([9, 10, 100])
  })

  it('says which columns there are', () => {
    expect(() => summarize(rows, { groupBy: 'month', value: 'rain', measure: 'sum' })).toThrow(
      'There is no column "month"; the columns are day, rain, town',
    )
  })

  it('refuses text as a measure and text as a date', () => {
    expect(() => summarize(rows, { groupBy: 'day', value: 'town', measure: 'sum' })).toThrow(
      'The column "town" holds "b", which is no number',
    )
    expect(() =>
      summarize(rows, { groupBy: 'town', interval: 'year', value: 'rain', measure: 'sum' }),
    ).toThrow('which is no date')
    expect(() => summarize(rows, { groupBy: 'town', measure: 'sum' })).toThrow('needs a "value"')
    expect(() => summarize([], { groupBy: 'town', measure: 'count' })).toThrow('no rows')
  })
})
