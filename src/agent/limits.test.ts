import { describe, expect, it } from 'vitest'
import { type Limits, resolveLimits } from './limits.ts'

describe('resolveLimits', () => {
  it('has defaults that end a run that goes in circles', () => {
    expect(resolveLimits()).toMatchObject({
      ...{ steps: 25, tokens: Infinity, cost: Infinity, durationMs: Infinity },
      ...{ parallelCalls: 16, callMs: Infinity, modelMs: 600_000 },
    })
  })

  it('keeps what was given, and the default of what was given as undefined', () => {
    expect(resolveLimits({ steps: 3, tokens: undefined, callMs: 0.5 })).toMatchObject({
      ...{ steps: 3, tokens: Infinity, callMs: 0.5 },
    })
    expect(resolveLimits({ steps: Infinity }).steps).toBe(Infinity)
  })

  it.each([0, -1, Number.NaN, -Infinity, null, '5', {}])('refuses %s', (steps) => {
    expect(() => resolveLimits({ steps } as Limits)).toThrow(
      expect.objectContaining({
        code: 'config_invalid',
        message: expect.stringMatching(/^limits\.steps cannot be .*: give a positive number$/),
      }),
    )
  })

  it('refuses a limit that there is not, and names those that there are', () => {
    expect(() => resolveLimits({ maxSteps: 3 } as Limits)).toThrow(
      /There is no "maxSteps" in limits; there are steps, tokens, cost/,
    )
  })
})
