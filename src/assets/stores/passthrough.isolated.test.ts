import { describe, expect, it, vi } from 'vitest'
import { createPassthroughStore } from './passthrough.ts'

// It counts all timers of its process.
describe('createPassthroughStore', () => {
  it('releases bodies after a time, even if nothing else happens', async () => {
    vi.useFakeTimers()
    try {
      const store = createPassthroughStore({ ttlMs: 1_000 })
      await store.save(new Uint8Array(100), 'text/plain')
      await vi.advanceTimersByTimeAsync(600)
      const { assetId } = await store.save(new Uint8Array(50), 'text/plain')
      await vi.advanceTimersByTimeAsync(500)
      expect(await store.usage()).toEqual({ assets: 2, bytes: 50 })
      await vi.advanceTimersByTimeAsync(500)
      expect(await store.usage()).toEqual({ assets: 2, bytes: 0 })
      await expect(store.get(assetId)).rejects.toThrow('nobody read it in time')
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })
})
