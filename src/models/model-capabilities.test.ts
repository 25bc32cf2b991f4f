import { describe, expect, it } from 'vitest'
import { costOf } from './model-capabilities.ts'

describe('costOf', () => {
  const price = { input: 2, output: 10 }

  it('includes input and output, in dollars per million tokens', () => {
    expect(costOf({ inputTokens: 1_000_000, outputTokens: 500_000 }, price)).toBe(7)
    expect(costOf({ inputTokens: null, outputTokens: 100 }, price)).toBe(0.001)
  })

  it('is null if no tokens were counted', () => {
    expect(costOf({ inputTokens: null, outputTokens: null }, price)).toBeNull()
  })

  it('uses the cache price for cached tokens, or the input price without one', () => {
    const usage = {
      inputTokens: 1000,
      outputTokens: 0,
      cachedInputTokens: 800,
      cacheWriteTokens: 100,
    }
    expect(costOf(usage, { ...price, cacheRead: 0.2, cacheWrite: 2.5 })).toBeCloseTo(610e-6, 12)
    expect(costOf(usage, price)).toBeCloseTo(2000e-6, 12)
  })
})
