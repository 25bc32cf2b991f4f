import { act, renderHook } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { message, stateOf } from '../testing/messages.ts'
import { timeline } from './timeline.ts'
import { MORE, MOST, PAGE, useWindow } from './use-window.ts'

const messages = (count: number) =>
  Array.from({ length: count }, (_, i) => message({ id: `n${i}`, message_type: 'notice' }))

const itemsOf = (count: number) => timeline(stateOf(...messages(count)))

function hook(count: number, hash = '', isLoaded = true) {
  return renderHook(({ items, at, loaded }) => useWindow(items, at, loaded), {
    initialProps: { items: itemsOf(count), at: hash, loaded: isLoaded },
  })
}

describe('useWindow', () => {
  it('contains the newest messages, and follows new ones', () => {
    const { result, rerender } = hook(1_000)
    expect([result.current.start, result.current.end]).toEqual([1_000 - PAGE, 1_000])
    rerender({ items: itemsOf(1_001), at: '', loaded: true })
    expect(result.current.end).toBe(1_001)
    act(() => result.current.extend('start'))
    expect(result.current.start).toBe(1_001 - PAGE - MORE)
  })

  it('contains the messages around the one that the URL names, and grows in both directions', () => {
    const { result } = hook(10_000, 'm-n5000')
    expect(result.current.start).toBeLessThan(5_000)
    expect(result.current.end).toBeGreaterThan(5_000)
    expect(result.current.end - result.current.start).toBe(PAGE)
    act(() => result.current.extend('end'))
    act(() => result.current.extend('start'))
    expect(result.current.end - result.current.start).toBe(PAGE + 2 * MORE)
    act(() => result.current.toEnd())
    expect(result.current.end).toBe(10_000)
  })

  it('leaves out the newest messages when many earlier ones are added, and goes to both ends', () => {
    const { result } = hook(1_000)
    const range = () => [result.current.start, result.current.end]
    for (let i = 0; i < 50; i++) act(() => result.current.extend('start'))
    const start = 1_000 - PAGE - 50 * MORE
    expect(range()).toEqual([start, start + MOST])
    act(() => result.current.toStart())
    expect(range()).toEqual([0, PAGE])
    act(() => result.current.toEnd())
    expect(range()).toEqual([1_000 - PAGE, 1_000])
  })

  it('grows on both sides if both ends are near at once', () => {
    const { result } = hook(10_000, 'm-n5000')
    const { start, end, extend } = result.current
    act(() => {
      extend('start')
      extend('end')
      extend('start')
    })
    expect([result.current.start, result.current.end]).toEqual([start - MORE, end + MORE])
  })

  it.each([950, 990])(
    'neither leaves n%i nor grows by messages that are still loading after it',
    (place) => {
      const { result, rerender } = hook(1_000, `m-n${place}`)
      rerender({ items: itemsOf(3_000), at: `m-n${place}`, loaded: true })
      const { start, end } = result.current
      expect(start).toBeLessThanOrEqual(place)
      expect(end).toBeGreaterThan(place)
      expect(end - start).toBeLessThan(2 * PAGE)
    },
  )

  it('is empty while the conversation loads, except for the message that the URL names', () => {
    const { result, rerender } = hook(100, 'm-n150', false)
    const range = () => [result.current.start, result.current.end]
    expect(range()).toEqual([0, 0])
    rerender({ items: itemsOf(160), at: 'm-n150', loaded: false })
    expect(range()).toEqual([142, 160])
    act(() => result.current.extend('end'))
    rerender({ items: itemsOf(1_000), at: 'm-n150', loaded: true })
    expect(result.current.start).toBe(142)
    expect(result.current.end).toBeLessThan(142 + 3 * PAGE)
    const { result: newest, rerender: load } = hook(100, '', false)
    expect(newest.current.end).toBe(0)
    load({ items: itemsOf(100), at: '', loaded: true })
    expect([newest.current.start, newest.current.end]).toEqual([100 - PAGE, 100])
  })

  it('finds the message that the URL names when it is loaded, and stays if it does not exist', () => {
    const { result, rerender } = hook(0, 'm-n3')
    const items = itemsOf(500)
    rerender({ items, at: 'm-n3', loaded: true })
    expect(result.current.start).toBe(0)
    expect(result.current.end).toBeLessThan(500)
    rerender({ items, at: 'm-none', loaded: true })
    expect(result.current.start).toBe(0)
    rerender({ items, at: 'm-%', loaded: true })
    expect(result.current.start).toBe(0)
  })
})
