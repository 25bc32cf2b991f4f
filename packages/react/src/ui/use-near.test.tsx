import { act, renderHook } from '@testing-library/react'
import { describe, expect, it, vi } from 'vitest'
import { useNear } from './use-near.ts'

type Entry = Pick<IntersectionObserverEntry, 'isIntersecting'>

/** The hook on an element, and a function that reports entries like a browser. */
function watching(when = true) {
  const seen: ((entries: Entry[]) => void)[] = []
  const watched = vi.fn()
  vi.stubGlobal(
    'IntersectionObserver',
    class {
      constructor(tell: (entries: Entry[]) => void) {
        seen.push(tell)
      }
      observe = watched
      unobserve() {}
      disconnect() {}
    },
  )
  const onNear = vi.fn()
  const ref = { current: document.createElement('p') }
  renderHook(() => useNear(ref, onNear, { margin: 100, when }))
  const see = (...near: boolean[]) =>
    act(() => seen.at(-1)?.(near.map((isIntersecting) => ({ isIntersecting }))))
  return { onNear, see, watched }
}

describe('useNear', () => {
  it('reports when an element comes near, and checks again', async () => {
    const { onNear, see, watched } = watching()
    see(false)
    expect(onNear).not.toHaveBeenCalled()
    see(true)
    expect(onNear).toHaveBeenCalledTimes(1)
    await expect.poll(() => watched.mock.calls.length).toBe(2)
  })

  it('uses the last entry if a busy page reports several at once', () => {
    const { onNear, see } = watching()
    see(false, true)
    expect(onNear).toHaveBeenCalledTimes(1)
    see(true, false)
    expect(onNear).toHaveBeenCalledTimes(1)
  })

  it('observes nothing while it is disabled', () => {
    expect(watching(false).watched).not.toHaveBeenCalled()
  })
})
