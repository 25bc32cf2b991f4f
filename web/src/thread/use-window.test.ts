// @vitest-environment jsdom
import { act, renderHook } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { message, stateOf } from '../testing/messages.ts'
import { timeline } from './timeline.ts'
import { PAGE, useWindow } from './use-window.ts'

const messages = (count: number) =>
  Array.from({ length: count }, (_, i) => message({ id: `n${i}`, message_type: 'notice' }))

function hook(count: number, hash = '') {
  return renderHook(({ items, at }) => useWindow(items, at), {
    initialProps: { items: timeline(stateOf(...messages(count))), at: hash },
  })
}

describe('useWindow', () => {
  it('holds the newest, and follows what comes', () => {
    const { result, rerender } = hook(1_000)
    expect([result.current.start, result.current.end]).toEqual([1_000 - PAGE, 1_000])
    rerender({ items: timeline(stateOf(...messages(1_001))), at: '' })
    expect(result.current.end).toBe(1_001)
    act(() => result.current.extend('start'))
    expect(result.current.start).toBe(1_000 - 2 * PAGE + 1)
  })

  it('holds a part around what the address names, and grows both ways', () => {
    const { result } = hook(10_000, 'm-n5000')
    expect(result.current.start).toBeLessThan(5_000)
    expect(result.current.end).toBeGreaterThan(5_000)
    expect(result.current.end - result.current.start).toBe(PAGE)
    act(() => result.current.extend('end'))
    act(() => result.current.extend('start'))
    expect(result.current.end - result.current.start).toBe(3 * PAGE)
    act(() => result.current.toEnd())
    expect(result.current.end).toBe(10_000)
  })

  it('grows on both sides where both are near at once', () => {
    const { result } = hook(10_000, 'm-n5000')
    const { start, end, extend } = result.current
    act(() => {
      extend('start')
      extend('end')
      extend('start')
    })
    expect([result.current.start, result.current.end]).toEqual([start - PAGE, end + PAGE])
  })

  it.each([950, 990])(
    'neither leaves n%i nor grows by what is still loading behind it',
    (place) => {
      const { result, rerender } = hook(1_000, `m-n${place}`)
      rerender({ items: timeline(stateOf(...messages(3_000))), at: `m-n${place}` })
      const { start, end } = result.current
      expect(start).toBeLessThanOrEqual(place)
      expect(end).toBeGreaterThan(place)
      expect(end - start).toBeLessThan(2 * PAGE)
    },
  )

  it('finds what the address names once it has come, and stays for one that is not there', () => {
    const { result, rerender } = hook(0, 'm-n3')
    const items = timeline(stateOf(...messages(500)))
    rerender({ items, at: 'm-n3' })
    expect(result.current.start).toBe(0)
    expect(result.current.end).toBeLessThan(500)
    rerender({ items, at: 'm-none' })
    expect(result.current.start).toBe(0)
    rerender({ items, at: 'm-%' })
    expect(result.current.start).toBe(0)
  })
})
