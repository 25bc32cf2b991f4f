import { describe, expect, it } from 'vitest'
import { canvasHeight, rowWindow, scrolledTo } from './row-window.ts'

const start = { top: 0, offset: 0 }

describe('a window on rows', () => {
  it('draws the visible rows, and some more', () => {
    const list = { count: 1_000, rowHeight: 20, viewport: 400 }
    expect(canvasHeight(list)).toBe(20_000)
    expect(rowWindow(list, start)).toEqual({ first: 0, last: 28, y: 0 })
    const place = scrolledTo(list, start, 10_000)
    expect(rowWindow(list, place)).toEqual({ first: 492, last: 528, y: 492 * 20 })
  })

  it('reaches both ends of a table with more rows than a browser can lay out', () => {
    const list = { count: 4_000_000, rowHeight: 24, viewport: 480 }
    const canvas = canvasHeight(list)
    expect(canvas).toBeLessThan(10_000_000)
    const end = scrolledTo(list, start, canvas - list.viewport)
    expect(rowWindow(list, end).last).toBe(4_000_000)
    expect(rowWindow(list, scrolledTo(list, end, 0)).first).toBe(0)
    const middle = rowWindow(list, scrolledTo(list, start, (canvas - list.viewport) / 2))
    expect(middle.first).toBeGreaterThan(1_999_000)
    expect(middle.first).toBeLessThan(2_001_000)
  })

  it('skips no row when it is scrolled a little', () => {
    const list = { count: 4_000_000, rowHeight: 24, viewport: 480 }
    let place = scrolledTo(list, start, 4_000_000)
    const before = rowWindow(list, place)
    for (let i = 0; i < 10; i++) place = scrolledTo(list, place, place.top + 100)
    const after = rowWindow(list, place)
    expect(after.first - before.first).toBe(Math.floor(1000 / 24))
    // Rows are visible: the first one is above the top, by less than the number of spare rows.
    expect(after.y).toBeLessThanOrEqual(place.top)
    expect(after.y).toBeGreaterThan(place.top - 10 * 24)
  })

  it('is empty without rows', () => {
    expect(rowWindow({ count: 0, rowHeight: 20, viewport: 400 }, start)).toMatchObject({ last: 0 })
  })
})
