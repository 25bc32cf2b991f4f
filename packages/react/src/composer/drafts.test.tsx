import { act, renderHook } from '@testing-library/react'
import { describe, expect, it, vi } from 'vitest'
import { keepDraft, readDraft, useDraft, useDraftPlace } from './drafts.ts'

describe('useDraft', () => {
  it('keeps unsent text when the page is reloaded', async () => {
    const { result, unmount } = renderHook(() => useDraft('c9'))
    act(() => result.current[1]('half a thought'))
    unmount()
    vi.resetModules()
    const { useDraft: anew } = await import('./drafts.ts')
    const again = renderHook(() => anew('c9'))
    expect(again.result.current[0]).toBe('half a thought')
    act(() => again.result.current[1](''))
    expect(sessionStorage).toHaveLength(0)
  })

  it('works if the browser allows no storage', () => {
    vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
      throw new DOMException('No.', 'SecurityError')
    })
    keepDraft('c9', 'half a thought')
    expect(readDraft('c9')).toBe('half a thought')
    keepDraft('c9', '')
    expect(readDraft('c9')).toBe('')
  })
})

describe('useDraftPlace', () => {
  it('gives each new conversation on the page its own place, the same one after a reload', async () => {
    const places = (use: typeof useDraftPlace) =>
      [null, 'c9', null].map((id) => renderHook(() => use(id)))
    const shown = places(useDraftPlace)
    const names = shown.map(({ result }) => result.current)
    expect(new Set(names).size).toBe(3)
    expect(names[1]).toBe('c9')
    for (const { unmount } of shown) unmount()
    vi.resetModules()
    const { useDraftPlace: anew } = await import('./drafts.ts')
    expect(places(anew).map(({ result }) => result.current)).toEqual(names)
  })
})
