import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  formatAgo,
  formatBytes,
  formatCost,
  formatCount,
  formatDuration,
  formatFullTime,
  formatShare,
  formatTenths,
  formatTime,
} from './format.ts'

describe('formatDuration', () => {
  it('rounds up to the next unit instead of 1,000 milliseconds or 60 seconds', () => {
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
  it('uses the unit of the rounded size', () => {
    const said = [0, 999, 1_000, 99_940, 999_499, 999_600, 1_400_000, 5e15].map(formatBytes)
    expect(said).toEqual([
      ...['0 B', '999 B', '1.0 KB', '99.9 KB', '999 KB', '1.0 MB', '1.4 MB', '5,000 TB'],
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

describe('every format', () => {
  afterEach(() => vi.restoreAllMocks())

  /** Formats one value of each kind, as a browser with this locale does. */
  function inLocale(locale: string): string[] {
    vi.spyOn(navigator, 'language', 'get').mockReturnValue(locale)
    const now = new Date('2026-03-05T18:00:00')
    return [
      formatCount(1_234_567),
      formatTenths(1.25),
      formatBytes(12_345_678),
      formatDuration(125_000),
      formatShare(0.345),
      formatCost(0.0123),
      formatCost(1234.5),
      formatTime('2026-03-04T15:07:00', now),
      formatFullTime('2026-03-04T15:07:00'),
      formatAgo('2026-03-05T17:48:00', now),
    ].map((text) => text.replace(/[\u00a0\u202f]/g, ' '))
  }

  it('follows the locale of the browser: English', () => {
    expect(inLocale('en-US')).toEqual([
      ...['1,234,567', '1.3', '12.3 MB', '2 min 5 s', '35%', '$0.0123', '$1,234.50'],
      ...['Mar 4, 03:07 PM', 'Mar 4, 2026, 3:07:00 PM', '12m'],
    ])
  })

  it('follows the locale of the browser: German', () => {
    expect(inLocale('de-DE')).toEqual([
      ...['1.234.567', '1,3', '12,3 MB', '2 min 5 s', '35 %', '0,0123 $', '1.234,50 $'],
      ...['4. März, 15:07', '04.03.2026, 15:07:00', '12m'],
    ])
  })

  it('follows the locale of the browser: Arabic as in Egypt, with its own digits', () => {
    const [count, tenths, bytes, duration, share, , , time, full, ago] = inLocale('ar-EG')
    expect([count, tenths, bytes, duration, ago]).toEqual([
      ...['١٬٢٣٤٬٥٦٧', '١٫٣', '١٢٫٣ MB', '٢ min ٥ s', '١٢m'],
    ])
    expect(share).toContain('٣٥٪')
    expect(time).toContain('٠٣:٠٧')
    expect(full).toContain('٢٠٢٦')
  })

  it('uses the locale of the JavaScript engine if the browser names no valid one', () => {
    expect(inLocale('en-US@posix')).toEqual(inLocale(''))
  })
})
