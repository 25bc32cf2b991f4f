import { describe, expect, it } from 'vitest'
import { resolveLimits } from './limits.ts'

describe('resolveLimits', () => {
  it('has defaults that end a run that goes in circles', () => {
    expect(resolveLimits()).toMatchObject({
      ...{ steps: 25, tokens: Infinity, cost: Infinity, runTimeoutMs: Infinity },
      ...{ parallelCalls: 16, callTimeoutMs: Infinity, modelTimeoutMs: 600_000 },
    })
  })

  it('keeps what was given, and the default of what was given as undefined', () => {
    expect(resolveLimits({ steps: 3, tokens: undefined, callTimeoutMs: 0.5 })).toMatchObject({
      ...{ steps: 3, tokens: Infinity, callTimeoutMs: 0.5 },
    })
    expect(resolveLimits({ steps: Infinity }).steps).toBe(Infinity)
  })
})
