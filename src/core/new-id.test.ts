import { describe, expect, it, vi } from 'vitest'
import { isNewId, newId } from './new-id.ts'
import { isAssetId } from './refs/asset-ref.ts'

describe('newId', () => {
  it('makes ids that are safe everywhere and sort in creation order', () => {
    const ids = Array.from({ length: 50_000 }, newId)
    expect(ids.toSorted()).toEqual(ids)
    expect(new Set(ids).size).toBe(ids.length)
    for (const id of ids.slice(0, 100)) {
      expect(id).toMatch(/^[0-9a-hjkmnp-tv-z]{27}$/)
      expect(isAssetId(id)).toBe(true)
    }
  })

  it('sorts even if the clock goes back or stands still', () => {
    vi.useFakeTimers()
    try {
      vi.setSystemTime(4e12)
      const before = newId()
      vi.setSystemTime(3e12)
      const ids = [before, ...Array.from({ length: 40_000 }, newId)]
      expect(ids.toSorted()).toEqual(ids)
      expect(new Set(ids).size).toBe(ids.length)
    } finally {
      vi.useRealTimers()
    }
  })

  it('cannot be guessed from the previous id', () => {
    const tails = Array.from({ length: 1000 }, () => newId().slice(11))
    expect(new Set(tails).size).toBe(1000)
    expect(new Set(tails.join('')).size).toBe(32)
  })

  it('is recognized, and no other text is', () => {
    for (let i = 0; i < 1000; i++) expect(isNewId(newId())).toBe(true)
    for (const other of ['', 'report', `${newId()}0`, newId().toUpperCase(), 'i'.repeat(27)])
      expect(isNewId(other)).toBe(false)
  })
})
