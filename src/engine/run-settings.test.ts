import { describe, expect, it } from 'vitest'
import { scriptedModel } from '../testing/scripted-model.ts'
import { resolveLimits, resolvePromptOptions } from './run-settings.ts'

describe('resolveLimits', () => {
  it('has defaults that end an endless run', () => {
    expect(resolveLimits()).toMatchObject({
      steps: 25,
      tokens: Infinity,
      cost: Infinity,
      runTimeoutMs: Infinity,
      parallelCalls: 16,
      callTimeoutMs: Infinity,
      modelTimeoutMs: 600_000,
    })
  })

  it('keeps given values, and uses the default for undefined', () => {
    expect(resolveLimits({ steps: 3, tokens: undefined, callTimeoutMs: 0.5 })).toMatchObject({
      steps: 3,
      tokens: Infinity,
      callTimeoutMs: 0.5,
    })
    expect(resolveLimits({ steps: Infinity }).steps).toBe(Infinity)
  })
})

describe('resolvePromptOptions', () => {
  it('keeps given limits of files, and uses the default for undefined', () => {
    const options = { media: { maxParts: 3, maxBytes: undefined } }
    const { media } = resolvePromptOptions(scriptedModel([]), options)
    expect(media).toMatchObject({ maxParts: 3, maxBytes: 48 * 1024 * 1024 })
  })
})
