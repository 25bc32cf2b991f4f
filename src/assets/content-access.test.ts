import { describe, expect, it, vi } from 'vitest'
import { ContentCache } from './content-access.ts'

describe('ContentCache', () => {
  it('makes a value once, also if it is null', async () => {
    const cache = new ContentCache(100)
    for (const value of ['a', null]) {
      const make = vi.fn(async () => ({ value, bytes: 1 }))
      const key = String(value)
      expect(await Promise.all([cache.load(key, make), cache.load(key, make)])).toEqual([
        value,
        value,
      ])
      expect(await cache.load(key, make)).toBe(value)
      expect(make).toHaveBeenCalledTimes(1)
    }
  })
})
