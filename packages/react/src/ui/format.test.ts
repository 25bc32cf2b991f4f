import { describe, expect, it } from 'vitest'
import { formatBytes, formatCost, formatDuration } from './format.ts'

describe('formatDuration', () => {
  it('has no 1,000 milliseconds and no 60 seconds', () => {
    const said = [0, 42.4, 999.4, 999.6, 1_250, 59_949, 59_960, 119_600, 125_000].map(
      formatDuration,
    )
    expect(said).toEqual([
      ...['0 ms', '42 ms', '999 ms', '1.0 s', '1.3 s', '59.9 s', '1 min 0 s', '2 min 0 s'],
      '2 min 5 s',
    ])
  })
})

describe('formatBytes', () => {
  it('takes the unit that the rounded size has', () => {
    const said = [0, 999, 1_000, 99_940, 999_499, 999_600, 1_400_000, 5e15].map(formatBytes)
    expect(said).toEqual([
      ...['0 B', '999 B', '1.0 KB', '99.9 KB', '999 KB', '1.0 MB', '1.4 MB', '5000 TB'],
    ])
  })
})

describe('formatCost', () => {
  it.each([
    [0, '$0.00'],
    [0.0042, '$0.0042'],
    [0.5, '$0.50'],
    [1204.3, '$1,204.30'],
  ])('writes %d as %s', (dollars, text) => {
    expect(formatCost(dollars)).toBe(text)
  })
})
