import { act, renderHook } from '@testing-library/react'
import { describe, expect, it, vi } from 'vitest'
import { useAction } from './use-action.ts'

describe('useAction', () => {
  it('tells whether it is being performed, its result and its error, and starts again', async () => {
    const answers = [Promise.withResolvers<number>(), Promise.withResolvers<number>()]
    const perform = vi.fn(async (place: number) => answers[place]?.promise)
    const { result } = renderHook(() => useAction(perform))
    expect(result.current).toMatchObject({ isBusy: false, error: null })
    act(() => result.current.run(0))
    expect(result.current.isBusy).toBe(true)
    act(() => result.current.run(1))
    expect(perform).toHaveBeenCalledTimes(1)
    await act(async () => answers[0]?.reject(new Error('No.')))
    expect(result.current).toMatchObject({ isBusy: false, error: new Error('No.') })
    act(() => result.current.run(1))
    expect(result.current).toMatchObject({ isBusy: true, error: null })
    await act(async () => answers[1]?.resolve(7))
    expect(result.current).toMatchObject({ isBusy: false, error: null, result: 7 })
  })
})
