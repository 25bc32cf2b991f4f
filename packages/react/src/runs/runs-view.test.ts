import { describe, expect, it } from 'vitest'
import {
  countFilters,
  filterOf,
  periodKey,
  periodsSince,
  readRunsView,
  startOf,
} from './runs-view.ts'

describe('readRunsView', () => {
  it('reads the URL, and ignores invalid parts', () => {
    const search = { range: '7d', status: 'failed', tool: 42, minCost: '0.5', minDuration: 10 }
    expect(readRunsView(search)).toEqual({
      range: '7d',
      status: 'failed',
      tool: '42',
      minCost: 0.5,
      minDuration: 10,
    })
    const wrong = { range: 'ever', status: 'idle', minCost: 'much', minTokens: -1, agent: '' }
    expect(readRunsView(wrong)).toEqual({})
    expect(countFilters(readRunsView(search))).toBe(4)
  })
})

describe('filterOf', () => {
  it('asks for milliseconds, since the beginning of the first day', () => {
    const now = new Date(2026, 2, 30, 15, 20)
    expect(filterOf({ range: '7d', minDuration: 1.5 }, now)).toMatchObject({
      minDurationMs: 1500,
      since: new Date(2026, 2, 24).toISOString(),
    })
    expect(filterOf({ range: 'all' }, now).since).toBeUndefined()
  })
})

describe('periodsSince', () => {
  it('has every hour, day and month until now, with the names of the server', () => {
    const now = new Date(2026, 2, 2, 15, 20)
    const keys = (range: '24h' | '7d' | '12m', by: 'hour' | 'day' | 'month') =>
      periodsSince(startOf(range, now) as Date, by, now).map(({ key }) => key)
    expect(keys('7d', 'day').slice(-3)).toEqual(['2026-02-28', '2026-03-01', '2026-03-02'])
    expect(keys('7d', 'day')).toHaveLength(7)
    expect(keys('12m', 'month').at(0)).toBe('2025-04')
    expect(keys('12m', 'month')).toHaveLength(12)
    expect(startOf('today', now)?.toTimeString()).toMatch(/^00:00:00/)
    const hours = keys('24h', 'hour')
    expect(hours).toHaveLength(24)
    expect(hours.at(-1)).toBe(periodKey(new Date(2026, 2, 2, 15).toISOString(), 'hour'))
  })
})
